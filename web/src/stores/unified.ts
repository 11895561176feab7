/** Everything that is going on with the reader's recordings, in one list: pushed, but for places and estimates. */
import { computed, onScopeDispose, ref, shallowRef, watch } from "vue";
import type { ProcessingJob } from "@/api/types";
import { asProblem, type Problem } from "@/services/problem";
import { reaskWhile } from "@/services/reasking";
import { clearCompleted, getQueueStatus } from "@/services/recordingList";
import { JobBoard } from "@/services/uploads/board";
import { isRecordingJob } from "@/services/uploads/pushed";
import { endings, inView, unify, type UnifiedItem } from "@/services/uploads/unify";
import { listenLive } from "@/stores/live";
import { plural } from "@/format/numbers";
import { attempt, confirmed, toast } from "@/stores/toasts";
import { forgetUploads, uploads } from "@/stores/uploads";

/** Several things happen at once; places in line are asked for when they have. */
const SOON_MS = 900;
/** What is left of the time is asked for when there was progress. */
const LATER_MS = 3000;
/** An upload that is handed over right now gets its recording's id first, so that it is not listed twice. */
const HAND_OVER_MS = 3000;
/** Other tabs have asked for its job by then. */
const FORGET_MS = 3000;

const jobs = shallowRef<ProcessingJob[]>([]);
const places = new Map<string, string>();
export const queueProblem = ref<Problem | null>(null);
/** When the server last told of places and estimates. */
export const toldAt = ref(0);

export const unified = computed<UnifiedItem[]>(() => unify(jobs.value, uploads.value, places));
export const active = computed(() => inView(unified.value, "active"));
export const completed = computed(() => inView(unified.value, "completed"));
export const failed = computed(() => inView(unified.value, "failed"));

/** Asks anew; for after something was done that the reader expects to see at once. */
export let refreshQueue: () => Promise<void> = () => Promise.resolve();

/** Takes what has ended off the list, after a question that says what it does not do. Answers whether something was done. */
export async function clearFinished(): Promise<boolean> {
  const asked = {
    title: "Clear finished jobs?",
    text: "The list of what was done is emptied. The recordings stay, with their transcripts and summaries.",
    yes: "Clear them",
  };
  if (!(await confirmed(asked))) return false;
  const cleared = await attempt(clearCompleted);
  if (cleared === undefined) return false;
  toast(cleared ? `${plural(cleared, "finished job")} cleared` : "There was nothing to clear", {
    detail: cleared ? "The recordings stay." : null,
  });
  await refreshQueue();
  return true;
}

async function handedOver(): Promise<void> {
  if (!uploads.value.some((row) => row.handingOver)) return;
  await new Promise<void>((resolve) => {
    const stop = watch(uploads, (rows) => void (rows.some((row) => row.handingOver) || done()));
    const timer = setTimeout(done, HAND_OVER_MS);
    function done(): void {
      clearTimeout(timer);
      stop();
      resolve();
    }
  });
}

/** Called once, by the shell. `onEnd` hears of recordings that came to their end while this was looking. */
export function useUnified(onEnd: (items: UnifiedItem[]) => void): void {
  const current = new JobBoard();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let known: UnifiedItem[] | null = null;
  let over = false;

  async function load(): Promise<void> {
    const round = current.ask();
    try {
      const found = await getQueueStatus();
      await handedOver();
      if (over) return;
      current.answer(round, found);
      show();
      toldAt.value = Date.now();
      queueProblem.value = null;
      tellEndings();
    } catch (caught) {
      if (!over) queueProblem.value = asProblem(caught);
    }
  }

  function show(): void {
    jobs.value = current.jobs;
  }

  /** Only answers end something: a pushed end may be followed by a summary a moment later. */
  function tellEndings(): void {
    const now = unified.value;
    if (known) {
      const ended = endings(known, now);
      if (ended.length) onEnd(ended);
    }
    known = now;
  }

  let due = Infinity;

  /** Asks again within this time; a nearer moment that was set before holds. */
  function within(ms: number): void {
    if (due <= Date.now() + ms) return;
    clearTimeout(timer);
    due = Date.now() + ms;
    timer = setTimeout(() => {
      due = Infinity;
      void load();
    }, ms);
  }

  function soon(): void {
    within(SOON_MS);
  }

  const stopListening = listenLive({
    onJobs(pushes) {
      const stirred = current.push(pushes.map((push) => push.job));
      show();
      if (stirred) soon();
      else if (pushes.some((push) => isRecordingJob(push.job))) within(LATER_MS);
    },
    onDeleted(ids) {
      if (!current.drop(ids)) return;
      show();
      soon();
    },
    onReload: () => void load(),
    onOpen: () => void (queueProblem.value && load()),
  });

  onScopeDispose(reaskWhile(() => active.value.some((item) => item.job), load));

  /** An upload that became a recording is the server's from then on. */
  const arrived = new Set<string>();
  const stopWatching = watch(
    uploads,
    (rows) => {
      const fresh = rows.filter((row) => row.recordingId && !arrived.has(row.id));
      for (const row of fresh) {
        arrived.add(row.id);
        places.set(row.recordingId ?? "", row.id);
      }
      if (!fresh.length) return;
      void load().then(() => setTimeout(() => forgetUploads(fresh.map((row) => row.id)), FORGET_MS));
    },
    { immediate: true },
  );

  refreshQueue = load;
  void load();
  onScopeDispose(() => {
    over = true;
    clearTimeout(timer);
    stopListening();
    stopWatching();
    jobs.value = [];
    refreshQueue = () => Promise.resolve();
  });
}
