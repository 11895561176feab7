/**
 * One batch with its orders. Its row is shown as it is pushed; its orders are not on the row, and polls that find nothing new
 * are not pushed at all: while it lives it is asked for by the clock, too.
 */
import { computed, ref, type ComputedRef, type Ref, type ShallowRef } from "vue";
import type { BatchDetail, BatchPreview, Explanation } from "@/api/types";
import { useLiveQuery, type LiveQuery } from "@/composables/useLiveQuery";
import { getBatch, previewBatch } from "@/services/batches/batch";
import { batchesIn } from "@/services/batches/news";
import { withNews } from "@/services/news";
import { isLive } from "@/services/batches/status";
import { getJob } from "@/services/jobs";
import type { Problem } from "@/services/problem";

export interface BatchView {
  batch: ShallowRef<BatchDetail | null>;
  error: Ref<Problem | null>;
  deleted: ComputedRef<boolean>;
  live: ComputedRef<boolean>;
  /** Why it stands where it stands, in the engine's words. */
  explanation: ShallowRef<Explanation | null>;
  reload(): Promise<void>;
}

const SOON_MS = 200;
const CLOCK_MS = 3000;

export function useBatch(id: string): BatchView {
  const gone = ref(false);
  const query: LiveQuery<BatchDetail> = useLiveQuery(() => getBatch(id), {
    after(pushed) {
      const own = batchesIn(pushed).filter((one) => one.id === id);
      if (!own.length) return null;
      gone.value ||= own.some(({ row }) => row === null);
      query.amend((shown) => withNews([shown], own)[0] ?? shown);
      return SOON_MS;
    },
    pollMs: CLOCK_MS,
    pollWhile: () => live.value,
  });
  const live = computed(() => query.data.value !== null && isLive(query.data.value.status));
  const asked = (): string | null => (live.value ? (query.data.value?.job_id ?? null) : null);
  const why = useLiveQuery<Explanation | null>(
    async () => (asked() === null ? null : ((await getJob(asked() ?? "")).explanation ?? null)),
    { watch: () => [asked(), query.data.value?.waiting_for, query.data.value?.status] },
  );

  return {
    batch: query.data,
    error: query.error,
    deleted: computed(() => gone.value || (query.data.value !== null && query.error.value?.status === 404)),
    live,
    explanation: why.data,
    reload: query.reload,
  };
}

/** The first lines of its results, once it has some. */
export function useBatchPreview(id: string, version: () => number | null, failed: () => boolean): LiveQuery<BatchPreview> {
  const nothing: BatchPreview = { lines: [], more: false };
  return useLiveQuery(() => (version() === null ? Promise.resolve(nothing) : previewBatch(id, failed())), {
    watch: () => [version(), failed()],
  });
}
