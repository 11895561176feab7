/**
 * One job with everything about it. The row is the shared object and moves with the stream; what is not pushed (steps,
 * values, why it waits) is asked for again when the job changed, at most once a second, and while it waits its turn.
 */
import { computed, onScopeDispose, ref, shallowRef, type ComputedRef, type Ref, type ShallowRef } from "vue";
import type { Job, JobDetail } from "@/api/types";
import { LIVE } from "@/format/words";
import { getJob } from "@/services/jobs";
import { asProblem, type Problem } from "@/services/problem";
import { applyJob, holdJob, releaseJob } from "@/stores/jobs";
import { listenLive, type JobPush } from "@/stores/live";

export interface JobView {
  job: ShallowRef<Job | null>;
  detail: ShallowRef<JobDetail | null>;
  error: Ref<Problem | null>;
  deleted: Ref<boolean>;
  live: ComputedRef<boolean>;
  reload(): Promise<void>;
}

const SOON_MS = 700;
const QUEUE_MS = 5000;
const DETAILS: ReadonlySet<string> = new Set<Exclude<keyof JobDetail, keyof Job>>([
  "payload",
  "result",
  "payload_truncated",
  "result_truncated",
  "explanation",
  "steps",
  "cost_cents",
  "unpriced",
  "tokens_in",
  "tokens_out",
  "trace",
  "worker",
]);

export function useJob(id: string): JobView {
  const job = shallowRef<Job | null>(null);
  const detail = shallowRef<JobDetail | null>(null);
  const error = ref<Problem | null>(null);
  const deleted = ref(false);
  const live = computed(() => job.value !== null && LIVE.has(job.value.state));
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;

  async function reload(): Promise<void> {
    try {
      const found = await getJob(id);
      if (over) return;
      detail.value = found;
      if (job.value) applyJob(found);
      else job.value = holdJob(rowOf(found));
      error.value = null;
    } catch (caught) {
      error.value = asProblem(caught);
    }
  }

  function soon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void reload();
    }, SOON_MS);
  }

  /** Progress alone is on the row already; anything else may have changed the details. */
  function onJobs(pushes: JobPush[]): void {
    const mine = pushes.filter((push) => push.job.id === id);
    if (mine.some((push) => push.events.some((event) => event.name !== "job.progress"))) soon();
  }

  function onDeleted(ids: string[]): void {
    if (ids.includes(id)) deleted.value = true;
  }

  const stopListening = listenLive({
    onJobs,
    onDeleted,
    onReload: () => void reload(),
    onOpen: () => void (error.value && reload()),
  });
  const poll = setInterval(() => {
    if (job.value?.state === "queued" && !document.hidden) soon();
  }, QUEUE_MS);

  onScopeDispose(() => {
    over = true;
    stopListening();
    clearTimeout(timer);
    clearInterval(poll);
    if (job.value) releaseJob(id);
  });

  void reload();
  return { job, detail, error, deleted, live, reload };
}

/** The row within the detail, so that the shared object does not carry payloads. */
function rowOf(detail: JobDetail): Job {
  return Object.fromEntries(Object.entries(detail).filter(([name]) => !DETAILS.has(name))) as unknown as Job;
}
