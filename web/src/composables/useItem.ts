/** One item with what has happened to it. */
import { computed, type ComputedRef, type Ref, type ShallowRef } from "vue";
import type { DocumentItem, ItemEvent } from "@/api/types";
import { useLiveQuery, type LiveQuery } from "@/composables/useLiveQuery";
import { itemsIn } from "@/services/documents/news";
import { findItems, listItemEvents } from "@/services/documents/runs";
import { withNews } from "@/services/news";
import type { Problem } from "@/services/problem";

export interface ItemView {
  item: ComputedRef<DocumentItem | null>;
  /** Whether there is none of this id, or none any more. */
  missing: ComputedRef<boolean>;
  events: ShallowRef<ItemEvent[] | null>;
  error: Ref<Problem | null>;
  reload(): Promise<void>;
}

const SOON_MS = 400;

export function useItem(id: string): ItemView {
  const own = (pushed: Parameters<typeof itemsIn>[0]) => itemsIn(pushed).filter((one) => one.id === id);
  const query: LiveQuery<DocumentItem[]> = useLiveQuery(() => findItems([id]), {
    after(pushed) {
      query.amend((shown) => withNews(shown, own(pushed)));
      return null;
    },
  });
  const item = computed(() => query.data.value?.[0] ?? null);
  const log = useLiveQuery<ItemEvent[]>(() => (item.value ? listItemEvents(item.value.run_id, id) : Promise.resolve([])), {
    watch: () => item.value?.id,
    after: (pushed) => (own(pushed).length ? SOON_MS : null),
  });

  return {
    item,
    missing: computed(() => query.data.value?.length === 0),
    events: log.data,
    error: query.error,
    reload: query.reload,
  };
}
