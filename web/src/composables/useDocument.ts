/** One document as it was read last, and what it was read for. */
import { computed, ref, type ComputedRef, type Ref, type ShallowRef } from "vue";
import type { DocumentItem, ReadDocument } from "@/api/types";
import { useLiveQuery, type LiveQuery } from "@/composables/useLiveQuery";
import { usePages, type Pages } from "@/composables/usePages";
import { getDocument, listReadings } from "@/services/documents/documents";
import { documentsIn, itemsIn } from "@/services/documents/news";
import { withNews } from "@/services/news";
import type { Problem } from "@/services/problem";

export interface DocumentView {
  document: ShallowRef<ReadDocument | null>;
  error: Ref<Problem | null>;
  deleted: ComputedRef<boolean>;
  readings: Pages<DocumentItem>;
  reload(): Promise<void>;
}

const SOON_MS = 500;

export function useDocument(id: string): DocumentView {
  const gone = ref(false);
  const query: LiveQuery<ReadDocument> = useLiveQuery(() => getDocument(id), {
    after(pushed) {
      const own = documentsIn(pushed).filter((one) => one.id === id);
      gone.value ||= own.some(({ row }) => row === null);
      query.amend((shown) => withNews([shown], own)[0] ?? shown);
      return null;
    },
  });
  const readings: Pages<DocumentItem> = usePages((after) => listReadings(id, after), {
    after(pushed) {
      const own = itemsIn(pushed).filter(({ row }) => row?.document_id === id);
      readings.amend((rows) => withNews(rows, own));
      const shown = new Set(readings.items.value?.map((row) => row.id));
      return own.some((one) => !shown.has(one.id)) ? SOON_MS : null;
    },
  });

  return {
    document: query.data,
    error: query.error,
    deleted: computed(() => gone.value || (query.data.value !== null && query.error.value?.status === 404)),
    readings,
    reload: query.reload,
  };
}
