/** Everything that is going on with the reader's recordings, in one list, with the files on their way to become some. */
import { computed, onScopeDispose, shallowRef, watch } from "vue";
import { useLiveQuery } from "@/composables/useLiveQuery";
import { clearCompleted, getOwnRecordings } from "@/services/recordingList";
import { askWithin, createNewsReader, ESTIMATES_MS, heard, withNews, type HeardRecording } from "@/services/recordings/news";
import { endings, inView, unify, type UnifiedItem } from "@/services/uploads/unify";
import { plural } from "@/format/numbers";
import { attempt, confirmed, toast } from "@/stores/toasts";
import { forgetUploads, uploads } from "@/stores/uploads";

/** Several things happen at once; places in line are asked for when they have. */
const SOON_MS = 900;
/** An upload that is handed over right now gets its recording's id first, so that it is not listed twice. */
const HAND_OVER_MS = 3000;
/** Other tabs have asked for its job by then. */
const FORGET_MS = 3000;

const recordings = shallowRef<HeardRecording[] | null>(null);
const places = new Map<string, string>();

export const unified = computed<UnifiedItem[]>(() => unify(recordings.value ?? [], uploads.value, places));
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
  const readNews = createNewsReader();
  const { data, reload, amend } = useLiveQuery(ask, {
    after(pushed) {
      const news = readNews(pushed);
      amend((rows) => withNews(rows, news));
      return askWithin(news, SOON_MS);
    },
    pollMs: ESTIMATES_MS,
    pollWhile: () => active.value.some((item) => item.recording),
    evenHidden: true,
    into: recordings,
  });

  async function ask(): Promise<HeardRecording[]> {
    const found = await getOwnRecordings();
    await handedOver();
    return found.map(heard);
  }

  /** What had ended before the first answer is no news. */
  let known: UnifiedItem[] | null = null;
  watch(unified, (now) => {
    if (!data.value) return;
    const ended = known ? endings(known, now) : [];
    known = now;
    if (ended.length) onEnd(ended);
  });

  /** An upload that became a recording is the server's from then on. */
  const arrived = new Set<string>();
  watch(
    uploads,
    (rows) => {
      const fresh = rows.filter((row) => row.recordingId && !arrived.has(row.id));
      for (const row of fresh) {
        arrived.add(row.id);
        places.set(row.recordingId ?? "", row.id);
      }
      if (!fresh.length) return;
      void reload().then(() => setTimeout(() => forgetUploads(fresh.map((row) => row.id)), FORGET_MS));
    },
    { immediate: true },
  );

  refreshQueue = reload;
  onScopeDispose(() => {
    recordings.value = null;
    refreshQueue = () => Promise.resolve();
  });
}
