/** A question on its way to its answer. It is a job: it goes on whether somebody looks or not, and its address finds it again. */
import { computed, ref, watch, type ComputedRef, type Ref, type ShallowRef } from "vue";
import type { Answered } from "@/api/types";
import { useLiveQuery, type LiveQuery } from "@/composables/useLiveQuery";
import type { Problem } from "@/services/problem";
import { getAnswer } from "@/services/search/search";
import type { Pushed } from "@/stores/live";

export interface AnswerView {
  answer: ShallowRef<Answered | null>;
  error: Ref<Problem | null>;
  live: ComputedRef<boolean>;
  /** What is being done for it at this moment, as the job says it. */
  doing: Ref<string | null>;
  reload(): Promise<void>;
}

const SOON_MS = 100;
const CLOCK_MS = 4000;

export function useAnswer(id: () => string): AnswerView {
  const doing = ref<string | null>(null);

  function hear({ jobs }: Pushed): number | null {
    const own = jobs.filter(({ job }) => job.id === id());
    const said = own.flatMap(({ events }) => events).filter(({ name, message }) => name === "job.progress" && message);
    doing.value = said.at(-1)?.message ?? doing.value;
    return own.length ? SOON_MS : null;
  }

  const query: LiveQuery<Answered | null> = useLiveQuery(
    (): Promise<Answered | null> => (id() ? getAnswer(id()) : Promise.resolve(null)),
    {
      watch: id,
      after: hear,
      pollMs: CLOCK_MS,
      pollWhile: () => live.value,
    },
  );
  const live = computed(() => query.data.value?.status === "waiting" || query.data.value?.status === "answering");
  watch(id, () => (doing.value = null));

  return { answer: query.data, error: query.error, live, doing, reload: query.reload };
}
