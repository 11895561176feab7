/** Rows that no longer belong in a list. They stay a moment, dimmed, so that nothing vanishes while it is looked at. */
import { onScopeDispose, ref, type Ref } from "vue";

export interface Leaving {
  ids: Readonly<Ref<Set<string>>>;
  /** Says that a row has to go, or that it may stay after all. */
  mark(id: string, leaves: boolean): void;
}

/** `drop` takes rows away for good, all whose moment has passed at once. */
export function useLeaving(lingerMs: number, drop: (ids: string[]) => void): Leaving {
  const ids = ref(new Set<string>());
  const due = new Map<string, number>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function mark(id: string, leaves: boolean): void {
    if (leaves === ids.value.has(id)) return;
    if (!leaves) return stay(id);
    ids.value.add(id);
    due.set(id, Date.now() + lingerMs);
    timer ??= setTimeout(sweep, lingerMs);
  }

  function stay(id: string): void {
    ids.value.delete(id);
    due.delete(id);
  }

  function sweep(): void {
    const now = Date.now();
    const over = [...due].filter(([, at]) => at <= now).map(([id]) => id);
    over.forEach(stay);
    drop(over);
    timer = due.size ? setTimeout(sweep, Math.max(100, Math.min(...due.values()) - now)) : undefined;
  }

  onScopeDispose(() => clearTimeout(timer));
  return { ids, mark };
}
