/** Which rows are ticked. Shift extends from the last one; rows that disappear are no longer ticked. */
import { computed, ref, watch, type ComputedRef, type Ref } from "vue";

export interface Selection {
  ids: Ref<Set<string>>;
  count: ComputedRef<number>;
  all: ComputedRef<boolean>;
  toggle(id: string, extend?: boolean): void;
  toggleAll(): void;
  clear(): void;
}

export function useSelection(rows: () => readonly { id: string }[]): Selection {
  const ids = ref(new Set<string>());
  let last: string | null = null;

  function toggle(id: string, extend = false): void {
    const on = !ids.value.has(id);
    const order = rows().map((row) => row.id);
    const [from, to] = [last === null ? -1 : order.indexOf(last), order.indexOf(id)];
    const range = extend && from >= 0 ? order.slice(Math.min(from, to), Math.max(from, to) + 1) : [id];
    for (const one of range)
      if (on) ids.value.add(one);
      else ids.value.delete(one);
    last = id;
  }

  const all = computed(() => rows().length > 0 && rows().every((row) => ids.value.has(row.id)));

  function toggleAll(): void {
    ids.value = all.value ? new Set() : new Set(rows().map((row) => row.id));
  }

  function clear(): void {
    ids.value = new Set();
    last = null;
  }

  watch(rows, (now) => {
    if (!ids.value.size) return;
    const there = new Set(now.map((row) => row.id));
    for (const id of ids.value) if (!there.has(id)) ids.value.delete(id);
  });

  return { ids, count: computed(() => ids.value.size), all, toggle, toggleAll, clear };
}
