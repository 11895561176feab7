/**
 * One job with everything about it. The row is the shared object and moves with the stream; what is not pushed (steps,
 * values, why it waits) is asked for again when the job changed, at most once a second, and while it waits its turn.
 */
import { computed, onScopeDispose, ref, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from "vue";
import type { Job, JobDetail } from "@/api/types";
import { useLiveQuery } from "@/composables/useLiveQuery";
import { LIVE } from "@/format/words";
import { getJob } from "@/services/jobs";
import type { Problem } from "@/services/problem";
import { applyJob, holdJob, releaseJob } from "@/stores/jobs";
import type { JobPush } from "@/stores/live";

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
  const deleted = ref(false);
  const live = computed(() => job.value !== null && LIVE.has(job.value.state));

  const { data, error, reload } = useLiveQuery(() => getJob(id), {
    /** Anything but progress may have changed the details. */
    after(pushed) {
      deleted.value ||= pushed.deleted.includes(id);
      return pushed.jobs.some((push) => push.job.id === id && !onlyProgress(push)) ? SOON_MS : null;
    },
    pollMs: QUEUE_MS,
    pollWhile: () => job.value?.state === "queued",
  });
  watch(
    data,
    (found) => {
      if (found && job.value) applyJob(found);
      else if (found) job.value = holdJob(rowOf(found));
    },
    { flush: "sync" },
  );
  onScopeDispose(() => job.value && releaseJob(id));

  return { job, detail: data, error, deleted, live, reload };
}

/** Nothing but progress, which is on the row. A message without events may be about anything. */
function onlyProgress({ events }: JobPush): boolean {
  return events.length > 0 && events.every((event) => event.name === "job.progress");
}

/** The row within the detail, so that the shared object does not carry payloads. */
function rowOf(detail: JobDetail): Job {
  return Object.fromEntries(Object.entries(detail).filter(([name]) => !DETAILS.has(name))) as unknown as Job;
}
