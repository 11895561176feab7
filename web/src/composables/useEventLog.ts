/**
 * The log of one job, newest part first loaded, in order of `seq` and without holes. Pushed events that follow on are
 * appended; those that do not make it ask for what lies between. Earlier parts come on request.
 */
import { computed, ref, type ComputedRef } from "vue";
import type { JobEvent } from "@/api/types";
import { useLiveQuery } from "@/composables/useLiveQuery";
import { asProblem, type Problem } from "@/services/problem";
import type { Pushed } from "@/stores/live";

export interface EventLogSource {
  jobId: string;
  /** The newest event's seq; null as long as nobody knows the job, and then nothing is asked. */
  seq(): number | null;
  /** Events after this seq in ascending order, at most `limit`. */
  load(after: number, limit: number): Promise<JobEvent[]>;
}

export interface EventLog {
  events: ComputedRef<JobEvent[]>;
  earlier: ComputedRef<boolean>;
  loaded: ComputedRef<boolean>;
  error: ComputedRef<Problem | null>;
  loadEarlier(): Promise<void>;
}

const PART = 200;
const MOST = 20_000;

export function useEventLog({ jobId, seq, load }: EventLogSource): EventLog {
  const known = computed(() => seq() !== null);
  const { data, error, amend } = useLiveQuery<JobEvent[] | null>(read, { watch: known, after });
  const events = computed(() => data.value ?? []);

  /** Reads on from what is shown until a part comes back short. */
  async function read(shown: JobEvent[] | null): Promise<JobEvent[] | null> {
    const newest = seq();
    if (newest === null) return null;
    let found = shown ?? (await load(Math.max(0, newest - PART), PART));
    for (;;) {
      const part = await load(lastOf(found), PART);
      found = merged(found, part);
      if (part.length < PART) return found;
    }
  }

  /** Only a run that follows on is appended; a gap is read from the server, which has everything before it. */
  function after({ jobs }: Pushed): number | null {
    const fresh = jobs
      .flatMap((push) => (push.job.id === jobId ? push.events : []))
      .filter((event) => event.seq > lastOf(events.value))
      .sort((left, right) => left.seq - right.seq);
    if (!fresh.length) return null;
    if (!data.value || !fresh.every((event, index) => event.seq === lastOf(events.value) + 1 + index)) return 0;
    amend((shown) => shown && merged(shown, fresh));
    return null;
  }

  /** The beginning may have been pruned: then a part before the first comes back empty. */
  const atStart = ref(false);
  const earlierError = ref<Problem | null>(null);

  async function loadEarlier(): Promise<void> {
    const first = events.value[0]?.seq ?? 1;
    const from = Math.max(0, first - 1 - PART);
    try {
      const part = await load(from, Math.min(PART, first - 1 - from));
      amend((shown) => shown && merged(shown, part));
      atStart.value = !part.length;
      earlierError.value = null;
    } catch (caught) {
      earlierError.value = asProblem(caught);
    }
  }

  return {
    events,
    earlier: computed(() => !atStart.value && (events.value[0]?.seq ?? 1) > 1),
    loaded: computed(() => data.value !== null),
    error: computed(() => error.value ?? earlierError.value),
    loadEarlier,
  };
}

function lastOf(events: readonly JobEvent[]): number {
  return events.at(-1)?.seq ?? 0;
}

function merged(events: JobEvent[], more: readonly JobEvent[]): JobEvent[] {
  if (!more.length) return events;
  const bySeq = new Map([...events, ...more].map((event) => [event.seq, event]));
  return [...bySeq.values()].sort((left, right) => left.seq - right.seq).slice(-MOST);
}
