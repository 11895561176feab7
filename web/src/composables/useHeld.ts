/** Jobs of an answer as the shared objects that move with the stream: held while they are listed, and with the component. */
import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";
import type { Job } from "@/api/types";
import { holdJob, releaseJob } from "@/stores/jobs";

export function useHeld(answered: () => readonly Job[] | null): Readonly<ShallowRef<Job[]>> {
  const rows = shallowRef<Job[]>([]);
  let held = new Map<string, { answer: Job; job: Job }>();

  /** Only what is new is held, and only what is gone is let go of: a long list changes by a row at a time. */
  function take(answers: readonly Job[]): void {
    const before = held;
    held = new Map();
    for (const answer of answers) {
      const known = before.get(answer.id);
      held.set(answer.id, known?.answer === answer ? known : { answer, job: holdJob(answer) });
    }
    for (const [id, known] of before) if (held.get(id) !== known) releaseJob(id);
    rows.value = [...held.values()].map(({ job }) => job);
  }

  watch(answered, (answers) => take(answers ?? []), { flush: "sync", immediate: true });
  onScopeDispose(() => take([]));
  return rows;
}
