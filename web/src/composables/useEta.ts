/** How long a running job still takes, judged by its pace of late; none while there is too little to judge by. */
import { computed, watch, type ComputedRef } from "vue";
import type { Job } from "@/api/types";
import { useNow } from "@/composables/useNow";
import { toMillis } from "@/format/time";

export interface Sample {
  at: number;
  current: number;
}

const REMEMBERED = 12;

/** Milliseconds left, from the oldest remembered point to the newest, counted on from there. */
export function remaining(samples: readonly Sample[], total: number, now: number): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.current <= first.current || last.at <= first.at) return null;
  if (last.current >= total) return 0;
  const pace = (last.current - first.current) / (last.at - first.at);
  return Math.max(0, (total - last.current) / pace - (now - last.at));
}

export function useEta(job: () => Job | null): ComputedRef<number | null> {
  const now = useNow();
  let samples: Sample[] = [];
  let owner = "";

  watch(
    () => [job()?.state, job()?.attempt, job()?.progress?.current] as const,
    () => {
      const current = job();
      if (!current || current.state !== "running") return void (samples = []);
      const started = toMillis(current.started_at);
      const mark = `${current.id} ${current.fence}`;
      if (mark !== owner) samples = started === null ? [] : [{ at: started, current: 0 }];
      owner = mark;
      if (current.progress) samples = [...samples, { at: Date.now(), current: current.progress.current }].slice(-REMEMBERED);
    },
    { immediate: true },
  );

  return computed(() => {
    const current = job();
    const total = current?.progress?.total;
    return current?.state === "running" && total ? remaining(samples, total, now.value) : null;
  });
}
