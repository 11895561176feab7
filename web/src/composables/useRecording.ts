/**
 * One recording with its transcript, kept current by what is pushed about its jobs: progress is taken from the pushed row,
 * anything else makes it ask again. A job's key is the id of its recording. While it waits its turn, other jobs of the
 * same queues that move ask again too, because they change its place in line. Only estimates are asked for by the clock.
 */
import { computed, onScopeDispose, ref, shallowRef, type ComputedRef, type Ref, type ShallowRef } from "vue";
import type { RecordingDetail, Segment, Transcript } from "@/api/types";
import { asProblem, type Problem } from "@/services/problem";
import { reaskWhile } from "@/services/reasking";
import { getRecording, getTranscript } from "@/services/recordings/recording";
import { isRecordingJob } from "@/services/uploads/pushed";
import { listenLive, type JobPush } from "@/stores/live";

export interface RecordingView {
  recording: ShallowRef<RecordingDetail | null>;
  transcript: ShallowRef<Transcript | null>;
  error: Ref<Problem | null>;
  transcriptError: Ref<Problem | null>;
  deleted: Ref<boolean>;
  live: ComputedRef<boolean>;
  /** When the server said what is shown, for estimates that count on. */
  heardAt: Readonly<Ref<number>>;
  reload(): Promise<void>;
  /** An answer of the server that is newer than what is shown. */
  take(found: RecordingDetail): void;
  takeLine(line: Segment): void;
  reloadTranscript(): Promise<void>;
}

const LIVE: ReadonlySet<string> = new Set(["PENDING", "PROCESSING", "SUMMARIZING"]);
const SOON_MS = 300;
const LATER_MS = 3000;

export function useRecording(id: string): RecordingView {
  const recording = shallowRef<RecordingDetail | null>(null);
  const transcript = shallowRef<Transcript | null>(null);
  const error = ref<Problem | null>(null);
  const transcriptError = ref<Problem | null>(null);
  const deleted = ref(false);
  const live = computed(() => LIVE.has(recording.value?.status ?? ""));
  const heardAt = ref(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let due = Infinity;
  let asked = 0;
  let shown: string | null = null;

  async function reload(): Promise<void> {
    const mine = (asked += 1);
    clearTimeout(timer);
    due = Infinity;
    try {
      const found = await getRecording(id);
      if (mine === asked) take(found);
    } catch (caught) {
      if (mine === asked) miss(asProblem(caught));
    }
  }

  function miss(problem: Problem): void {
    if (problem.status === 404 && recording.value) deleted.value = true;
    error.value = problem;
  }

  function take(found: RecordingDetail): void {
    recording.value = found;
    heardAt.value = Date.now();
    error.value = null;
    const newest = found.transcript?.id ?? null;
    if (newest === shown) return;
    shown = newest;
    if (newest === null) transcript.value = null;
    else void reloadTranscript();
  }

  async function reloadTranscript(): Promise<void> {
    const wanted = shown;
    try {
      const found = await getTranscript(id);
      if (wanted !== shown) return;
      transcript.value = found;
      transcriptError.value = null;
    } catch (caught) {
      if (wanted === shown) transcriptError.value = asProblem(caught);
    }
  }

  function takeLine(line: Segment): void {
    const now = transcript.value;
    if (!now) return;
    const segments = now.segments.map((known) => (known.number === line.number ? line : known));
    transcript.value = { ...now, segments };
  }

  /** Asks again within this time; a nearer moment that was set before holds. */
  function within(ms: number): void {
    if (due <= Date.now() + ms) return;
    clearTimeout(timer);
    due = Date.now() + ms;
    timer = setTimeout(() => void reload(), ms);
  }

  function onJobs(pushes: JobPush[]): void {
    for (const { job, events } of pushes) {
      if (!isRecordingJob(job)) continue;
      const onlyProgress = events.length > 0 && events.every((event) => event.name === "job.progress");
      if (job.key !== id) void (live.value && !onlyProgress && within(LATER_MS));
      else if (onlyProgress) advance(job);
      else within(SOON_MS);
    }
  }

  /** How far it is, at once; what is left of the time comes with the next answer. */
  function advance(row: JobPush["job"]): void {
    const now = recording.value;
    if (now?.job?.id === row.id && row.progress) recording.value = { ...now, job: { ...now.job, progress: row.progress } };
    within(LATER_MS);
  }

  const stopListening = listenLive({
    onJobs,
    onDeleted: (ids) => void (recording.value?.jobs.some((job) => ids.includes(job.id)) && within(SOON_MS)),
    onReload: () => void reload(),
    onOpen: () => void (error.value && reload()),
  });
  onScopeDispose(() => {
    asked += 1;
    stopListening();
    clearTimeout(timer);
  });

  onScopeDispose(reaskWhile(() => live.value, reload));
  void reload();
  return {
    recording,
    transcript,
    error,
    transcriptError,
    deleted,
    live,
    heardAt,
    reload,
    take,
    takeLine,
    reloadTranscript,
  };
}
