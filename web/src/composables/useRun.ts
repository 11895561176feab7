/** One run: its row is shown as it is pushed, and what grows old by itself, such as the estimate, is asked for by the clock. */
import { computed, ref, type ComputedRef, type Ref, type ShallowRef } from "vue";
import type { DocumentRun, FailureCause } from "@/api/types";
import { useLiveQuery, type LiveQuery } from "@/composables/useLiveQuery";
import { itemsIn, runsIn } from "@/services/documents/news";
import { getRun, listCauses } from "@/services/documents/runs";
import { failedOf, isLive } from "@/services/documents/status";
import { withNews } from "@/services/news";
import type { Problem } from "@/services/problem";

export interface RunView {
  run: ShallowRef<DocumentRun | null>;
  error: Ref<Problem | null>;
  deleted: ComputedRef<boolean>;
  live: ComputedRef<boolean>;
  /** Why items failed, the most frequent cause first. */
  causes: ShallowRef<FailureCause[] | null>;
  reload(): Promise<void>;
}

/** Steps of its items are told with the items; the run has the sums. */
const SUMS_MS = 700;
const CLOCK_MS = 5000;

export function useRun(id: string): RunView {
  const gone = ref(false);
  const query: LiveQuery<DocumentRun> = useLiveQuery(() => getRun(id), {
    after(pushed) {
      const own = runsIn(pushed).filter((one) => one.id === id);
      gone.value ||= own.some(({ row }) => row === null);
      query.amend((shown) => withNews([shown], own)[0] ?? shown);
      return itemsIn(pushed).some(({ row }) => row?.run_id === id) ? SUMS_MS : null;
    },
    pollMs: CLOCK_MS,
    pollWhile: () => live.value,
  });
  const live = computed(() => query.data.value !== null && isLive(query.data.value.status));
  const failed = computed(() => (query.data.value ? failedOf(query.data.value) : 0));
  const causes = useLiveQuery<FailureCause[]>(() => (failed.value ? listCauses(id) : Promise.resolve([])), {
    watch: failed,
  });

  return {
    run: query.data,
    error: query.error,
    deleted: computed(() => gone.value || (query.data.value !== null && query.error.value?.status === 404)),
    live,
    causes: causes.data,
    reload: query.reload,
  };
}
