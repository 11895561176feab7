/**
 * A live list of recordings, newest first, page by page. What is pushed about a job shows on its row at once; what only
 * the server can tell (status, place in line, new rows) is asked for right after, for as much of the list as is loaded.
 */
import { computed, ref, shallowRef, type Ref, type ShallowRef } from "vue";
import type { Job, Recording } from "@/api/types";
import type { Page } from "@/services/jobs";
import { asProblem, isAbsence, type Problem } from "@/services/problem";
import { reaskWhile } from "@/services/reasking";
import { statusOfJob } from "@/services/recordings/status";
import { isRecordingJob, patched } from "@/services/uploads/pushed";
import { listenLive, type JobPush } from "@/stores/live";

export interface RecordingListSource {
  load(after: string | null): Promise<Page<Recording>>;
  /** How soon after something happened the list is asked for anew. */
  soonMs?: number;
}

export interface RecordingList {
  rows: Readonly<ShallowRef<Recording[]>>;
  loading: Readonly<Ref<boolean>>;
  loaded: Readonly<Ref<boolean>>;
  complete: Readonly<Ref<boolean>>;
  error: Readonly<Ref<Problem | null>>;
  /** When the server last told of places and estimates. */
  toldAt: Readonly<Ref<number>>;
  loadMore(): Promise<void>;
  reload(): Promise<void>;
  dispose(): void;
}

const SOON_MS = 1200;
const LIVE: ReadonlySet<string> = new Set(["PENDING", "PROCESSING", "SUMMARIZING"]);
/** A new recording is shown at once, but many of them not one by one. */
const AT_ONCE_MS = 300;
const MOST_RELOADED = 300;

export function createRecordingList(source: RecordingListSource): RecordingList {
  const rows = shallowRef<Recording[]>([]);
  const loading = ref(false);
  const loaded = ref(false);
  const error = ref<Problem | null>(null);
  const next = ref<string | null>(null);
  const toldAt = ref(0);
  const complete = computed(() => loaded.value && next.value === null);
  /** Pushed since the newest question went out. */
  let heard = new Map<string, Job>();
  let generation = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stale = false;
  let askedAt = 0;

  async function guarded(work: (mine: number) => Promise<void>): Promise<void> {
    generation += 1;
    const mine = generation;
    loading.value = true;
    heard = new Map();
    stale = false;
    askedAt = Date.now();
    try {
      await work(mine);
      if (mine === generation) error.value = null;
    } catch (caught) {
      if (mine === generation) miss(asProblem(caught));
    } finally {
      if (mine === generation) loading.value = false;
    }
  }

  /** A server that is away for a moment does not push what is shown aside. */
  function miss(problem: Problem): void {
    stale = true;
    if (!loaded.value || !isAbsence(problem)) error.value = problem;
  }

  function show(found: Recording[], after: string | null): void {
    rows.value = found.map(refreshed);
    next.value = after;
    loaded.value = true;
    toldAt.value = Date.now();
  }

  function refreshed(row: Recording): Recording {
    const pushed = row.job && heard.get(row.job.id);
    return row.job && pushed ? withJob(row, pushed) : row;
  }

  async function loadMore(): Promise<void> {
    if (loading.value || complete.value) return;
    await guarded(async (mine) => {
      const page = await source.load(next.value);
      if (mine !== generation) return;
      const known = new Set(rows.value.map((row) => row.id));
      show([...rows.value, ...page.items.filter((item) => !known.has(item.id))], page.next);
    });
  }

  /** As many pages as are shown, within reason; the old rows stay until the new ones are here. */
  async function reload(): Promise<void> {
    const wanted = Math.min(rows.value.length, MOST_RELOADED);
    await guarded(async (mine) => {
      const found: Recording[] = [];
      let after: string | null = null;
      do {
        const page: Page<Recording> = await source.load(after);
        if (mine !== generation) return;
        found.push(...page.items);
        after = page.next;
      } while (after !== null && found.length < wanted);
      show(found, after);
    });
  }

  function soon(ms = source.soonMs ?? SOON_MS): void {
    stale = true;
    timer ??= setTimeout(() => {
      timer = undefined;
      if (stale && !document.hidden) void reload();
    }, ms);
  }

  function atOnce(): void {
    clearTimeout(timer);
    timer = undefined;
    soon(Math.max(0, askedAt + AT_ONCE_MS - Date.now()));
  }

  function onVisible(): void {
    if (!document.hidden && stale) void reload();
  }

  /** Progress is shown as it comes; anything else also changes places in line, and may be news. */
  function take(pushes: readonly JobPush[]): void {
    const about = pushes.filter((push) => isRecordingJob(push.job));
    const mine = about.map((push) => push.job);
    if (!mine.length) return;
    const byId = new Map(mine.map((job) => [job.id, job]));
    for (const job of mine) heard.set(job.id, job);
    let known = 0;
    let moved = false;
    rows.value = rows.value.map((row) => {
      const job = row.job && byId.get(row.job.id);
      if (!job) return row;
      known += 1;
      const now = withJob(row, job);
      moved ||= now.job?.job_status !== row.job?.job_status;
      return now;
    });
    const shown = new Set(rows.value.map((row) => row.job?.id));
    if (about.some((push) => !shown.has(push.job.id) && push.events.some((event) => event.name === "job.created"))) atOnce();
    else if (moved || known < byId.size) soon();
  }

  const stopListening = listenLive({
    onJobs: take,
    onDeleted: (ids) => void (rows.value.some((row) => row.job && ids.includes(row.job.id)) && soon()),
    onReload: () => void reload(),
    onOpen: () => void ((error.value || stale) && reload()),
  });
  document.addEventListener("visibilitychange", onVisible);
  const stopReasking = reaskWhile(
    () => rows.value.some((row) => LIVE.has(row.status)),
    () => soon(0),
  );

  function dispose(): void {
    generation += 1;
    clearTimeout(timer);
    stopListening();
    stopReasking();
    document.removeEventListener("visibilitychange", onVisible);
  }

  return { rows, loading, loaded, complete, error, toldAt, loadMore, reload, dispose };
}

const STATUS_OF = {
  queued: "PENDING",
  transcribing: "PROCESSING",
  summarizing: "SUMMARIZING",
  completed: "COMPLETED",
  failed: "FAILED",
  cancelled: "CANCELLED",
} as const;

/** The row as a pushed job leaves it. That it is done is the server's to say: a summary may follow. */
function withJob(row: Recording, pushed: Job): Recording {
  if (!row.job) return row;
  const job = patched(row.job, pushed);
  const status = statusOfJob(job);
  if (status in STATUS_OF && status !== "completed")
    return { ...row, job, status: STATUS_OF[status as keyof typeof STATUS_OF], error: job.error_message };
  return { ...row, job };
}
