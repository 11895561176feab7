/**
 * The log of one job, newest part first loaded, in order of `seq` and without holes: pushed events that do not follow on
 * make it ask for what lies between. Earlier parts come on request.
 */
import { ref, shallowRef, type Ref, type ShallowRef } from "vue";
import type { JobEvent } from "@/api/types";
import { asProblem, type Problem } from "@/services/problem";
import { listenLive } from "@/stores/live";

export interface EventLogSource {
  jobId: string;
  /** Events after this seq in ascending order, at most `limit`. */
  load(after: number, limit: number): Promise<JobEvent[]>;
}

export interface EventLog {
  events: Readonly<ShallowRef<JobEvent[]>>;
  earlier: Readonly<Ref<boolean>>;
  loaded: Readonly<Ref<boolean>>;
  error: Readonly<Ref<Problem | null>>;
  /** Loads the last part of a log whose newest event is `seq`. */
  open(seq: number): Promise<void>;
  loadEarlier(): Promise<void>;
  dispose(): void;
}

const PART = 200;
const MOST = 20_000;

export function createEventLog(source: EventLogSource): EventLog {
  const events = shallowRef<JobEvent[]>([]);
  const earlier = ref(false);
  const loaded = ref(false);
  const error = ref<Problem | null>(null);
  let catching = false;
  let again = false;
  let disposed = false;

  async function guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      error.value = null;
    } catch (caught) {
      error.value = asProblem(caught);
    }
  }

  function merge(more: readonly JobEvent[]): void {
    if (disposed || !more.length) return;
    const bySeq = new Map(events.value.map((event) => [event.seq, event]));
    for (const event of more) bySeq.set(event.seq, event);
    events.value = [...bySeq.values()].sort((left, right) => left.seq - right.seq).slice(-MOST);
    earlier.value = (events.value[0]?.seq ?? 1) > 1;
  }

  function lastSeq(): number {
    return events.value.at(-1)?.seq ?? 0;
  }

  function open(seq: number): Promise<void> {
    return guarded(async () => {
      merge(await source.load(Math.max(0, seq - PART), PART));
      loaded.value = true;
      await catchUp();
    });
  }

  function loadEarlier(): Promise<void> {
    return guarded(async () => {
      const first = events.value[0]?.seq ?? 1;
      const after = Math.max(0, first - 1 - PART);
      const page = await source.load(after, Math.min(PART, first - 1 - after));
      merge(page);
      if (!page.length) earlier.value = false;
    });
  }

  /** Reads on until a page comes back short and nobody asked meanwhile. */
  async function catchUp(): Promise<void> {
    again = true;
    if (catching) return;
    catching = true;
    try {
      while (again && !disposed) {
        again = false;
        const page = await source.load(lastSeq(), PART);
        merge(page);
        again ||= page.length >= PART;
      }
    } finally {
      catching = false;
    }
  }

  /** Only a run that follows on is appended; a gap is read from the server, which has everything before it. */
  function take(pushed: readonly JobEvent[]): void {
    if (!loaded.value) return;
    const fresh = pushed.filter((event) => event.job_id === source.jobId && event.seq > lastSeq());
    if (!fresh.length) return;
    fresh.sort((left, right) => left.seq - right.seq);
    const follows = fresh.every((event, index) => event.seq === lastSeq() + 1 + index);
    if (follows && !catching) merge(fresh);
    else void guarded(catchUp);
  }

  const stopListening = listenLive({
    onPushed: ({ jobs }) => take(jobs.flatMap((push) => (push.job.id === source.jobId ? push.events : []))),
    onReload: () => void (loaded.value && guarded(catchUp)),
  });

  function dispose(): void {
    disposed = true;
    stopListening();
  }

  return { events, earlier, loaded, error, open, loadEarlier, dispose };
}
