/** A list that is read page by page, on request. */
import { onScopeDispose, ref, shallowRef, type Ref, type ShallowRef } from "vue";
import { asProblem, type Problem } from "@/services/problem";
import type { Page } from "@/services/jobs";

export interface Pages<T> {
  items: ShallowRef<T[] | null>;
  more: Ref<boolean>;
  error: Ref<Problem | null>;
  loadMore(): Promise<void>;
  reload(): Promise<void>;
}

export function usePages<T>(load: (after: string | null) => Promise<Page<T>>): Pages<T> {
  const items = shallowRef<T[] | null>(null);
  const next = ref<string | null>(null);
  const more = ref(false);
  const error = ref<Problem | null>(null);
  let asked = 0;

  async function read(after: string | null): Promise<void> {
    asked += 1;
    const mine = asked;
    try {
      const page = await load(after);
      if (mine !== asked) return;
      items.value = after === null ? page.items : [...(items.value ?? []), ...page.items];
      next.value = page.next;
      more.value = page.next !== null;
      error.value = null;
    } catch (caught) {
      if (mine === asked) error.value = asProblem(caught);
    }
  }

  onScopeDispose(() => (asked += 1));
  void read(null);
  return { items, more, error, loadMore: () => read(next.value), reload: () => read(null) };
}
