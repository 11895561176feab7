/**
 * A list of jobs, newest first, that keeps itself up to date without flicker. Rows change in place because they are the
 * shared objects of stores/jobs. New rows appear at once while the reader is at the top, and wait behind a pill when not,
 * so that nothing moves under the reader's eyes. Rows that leave the filter stay, dimmed, for a moment.
 */
import { computed, ref, shallowRef, triggerRef, type Ref, type ShallowRef } from "vue";
import type { Job } from "@/api/types";
import { asProblem, type Problem } from "@/services/problem";
import { holdJob, releaseJob, releaseJobs } from "@/stores/jobs";
import { listenLive, type JobPush } from "@/stores/live";

export interface JobPage {
  items: Job[];
  next: string | null;
}

export interface JobListSource {
  load(after: string | null): Promise<JobPage>;
  matches(job: Job): boolean;
  /** How long a row that no longer matches stays. */
  lingerMs?: number;
  /** Rows beyond this are dropped from the end while the reader is at the top. */
  most?: number;
  /** Never shows more than this; for lists that are a glance, not a place to scroll. */
  cap?: number;
}

export interface JobList {
  rows: Readonly<ShallowRef<Job[]>>;
  leaving: Readonly<ShallowRef<Set<string>>>;
  pending: Readonly<Ref<number>>;
  loading: Readonly<Ref<boolean>>;
  loaded: Readonly<Ref<boolean>>;
  complete: Readonly<Ref<boolean>>;
  /** Many pages in a row held nothing; going on is the reader's decision. */
  barren: Readonly<Ref<boolean>>;
  error: Readonly<Ref<Problem | null>>;
  /** Set by whoever scrolls: whether new rows may appear at once. */
  atTop: Ref<boolean>;
  loadMore(): Promise<void>;
  reload(): Promise<void>;
  showPending(): void;
  dispose(): void;
}

const MOST_RELOADED = 400;
/** A page may be empty and still have a next one: the server looks at a bounded number of rows per request. */
const BARREN_PAGES = 12;

export function createJobList(source: JobListSource): JobList {
  const rows = shallowRef<Job[]>([]);
  const leaving = shallowRef(new Set<string>());
  const waiting = shallowRef(new Map<string, Job>());
  const loading = ref(false);
  const loaded = ref(false);
  const error = ref<Problem | null>(null);
  const atTop = ref(true);
  const next = ref<string | null>(null);
  const due = new Map<string, number>();
  let sweeping: ReturnType<typeof setTimeout> | undefined;
  /** Rows pushed while a page is on its way: the page may have been read before them. */
  const early = new Map<string, Job>();
  let boundaries: { lastId: string; next: string }[] = [];
  let generation = 0;
  const linger = source.lingerMs ?? 3000;
  const emptyPages = ref(0);

  const barren = computed(() => emptyPages.value >= BARREN_PAGES);
  const complete = computed(() => loaded.value && next.value === null);
  const pending = computed(() => waiting.value.size);

  async function page(after: string | null): Promise<JobPage | null> {
    const mine = generation;
    const answer = await source.load(after);
    return mine === generation ? answer : null;
  }

  async function guarded(work: () => Promise<void>): Promise<void> {
    loading.value = true;
    const mine = generation;
    try {
      await work();
      if (mine === generation) error.value = null;
    } catch (caught) {
      if (mine === generation) error.value = asProblem(caught);
    } finally {
      if (mine === generation) {
        loading.value = false;
        const missed = [...early.values()];
        early.clear();
        consider(missed.map((job) => ({ job })));
      }
    }
  }

  function remember(answer: JobPage): void {
    next.value = answer.next;
    const last = answer.items.at(-1);
    if (last && answer.next) boundaries.push({ lastId: last.id, next: answer.next });
  }

  async function loadMore(): Promise<void> {
    if (loading.value || (loaded.value && next.value === null)) return;
    await guarded(async () => {
      const answer = await page(next.value);
      if (!answer) return;
      const known = new Set(rows.value.map((row) => row.id));
      const fresh = answer.items.filter((item) => !known.has(item.id)).map(holdJob);
      rows.value = [...rows.value, ...fresh];
      emptyPages.value = fresh.length || barren.value ? 0 : emptyPages.value + 1;
      loaded.value = true;
      remember(answer);
    });
  }

  /** As many pages as are shown, within reason; the old rows stay until the new ones are here. */
  async function reload(): Promise<void> {
    generation += 1;
    const wanted = Math.min(rows.value.length, MOST_RELOADED);
    await guarded(async () => {
      const items: Job[] = [];
      const pages: JobPage[] = [];
      let after: string | null = null;
      do {
        const answer: JobPage | null = await page(after);
        if (!answer) return;
        items.push(...answer.items);
        pages.push(answer);
        after = answer.next;
      } while (after !== null && items.length < wanted);
      replace(items, pages);
    });
  }

  function replace(items: Job[], pages: JobPage[]): void {
    const old = rows.value;
    rows.value = items.map(holdJob);
    releaseJobs(old);
    boundaries = [];
    pages.forEach(remember);
    waiting.value = new Map();
    leaving.value = new Set();
    loaded.value = true;
  }

  function consider(pushes: Pick<JobPush, "job">[]): void {
    if (loading.value) for (const { job } of pushes) early.set(job.id, job);
    if (!loaded.value) return;
    const shown = new Set(rows.value.map((row) => row.id));
    const arriving = new Map<string, Job>();
    for (const { job } of pushes) {
      if (shown.has(job.id)) judge(job);
      else if (!source.matches(job)) forget(job.id, arriving);
      else if (belongs(job.id)) arriving.set(job.id, job);
    }
    if (atTop.value) insert([...arriving.values()]);
    else for (const [id, job] of arriving) waiting.value.set(id, job);
    triggerRef(waiting);
  }

  function forget(id: string, arriving: Map<string, Job>): void {
    waiting.value.delete(id);
    arriving.delete(id);
  }

  /** Rows beyond the last page that was loaded come with their own page. */
  function belongs(id: string): boolean {
    const last = rows.value.at(-1);
    return next.value === null || last === undefined || id > last.id;
  }

  function insert(jobs: Job[]): void {
    if (!jobs.length) return;
    const merged = [...jobs.map(holdJob), ...rows.value];
    merged.sort((left, right) => (left.id < right.id ? 1 : left.id > right.id ? -1 : 0));
    rows.value = merged;
    trim();
  }

  function trim(): void {
    if (source.cap !== undefined && rows.value.length > source.cap) {
      releaseJobs(rows.value.slice(source.cap));
      rows.value = rows.value.slice(0, source.cap);
    }
    const most = source.most ?? 1500;
    if (rows.value.length <= most) return;
    const cut = boundaries.find((boundary) => indexOf(boundary.lastId) >= most / 3);
    if (!cut) return;
    const keep = indexOf(cut.lastId) + 1;
    releaseJobs(rows.value.slice(keep));
    rows.value = rows.value.slice(0, keep);
    boundaries = boundaries.slice(0, boundaries.indexOf(cut) + 1);
    next.value = cut.next;
  }

  function indexOf(id: string): number {
    return rows.value.findIndex((row) => row.id === id);
  }

  function judge(job: Job): void {
    const gone = !source.matches(job);
    if (gone === leaving.value.has(job.id)) return;
    if (gone) {
      leaving.value.add(job.id);
      due.set(job.id, Date.now() + linger);
      sweeping ??= setTimeout(sweep, linger);
    } else leaving.value.delete(job.id);
    triggerRef(leaving);
  }

  /** Lets go of the rows whose moment has passed, all at once. */
  function sweep(): void {
    sweeping = undefined;
    const now = Date.now();
    const over = [...due].filter(([, at]) => at <= now).map(([id]) => id);
    for (const id of over) due.delete(id);
    drop(over.filter((id) => leaving.value.has(id)));
    if (due.size) sweeping = setTimeout(sweep, Math.max(100, Math.min(...due.values()) - now));
  }

  function drop(ids: string[]): void {
    const gone = new Set(ids);
    const kept = rows.value.filter((row) => !gone.has(row.id));
    for (const row of rows.value) if (gone.has(row.id)) releaseJob(row.id);
    if (kept.length !== rows.value.length) rows.value = kept;
    for (const id of ids) {
      early.delete(id);
      leaving.value.delete(id);
      waiting.value.delete(id);
    }
    triggerRef(waiting);
  }

  function showPending(): void {
    const jobs = [...waiting.value.values()];
    waiting.value = new Map();
    insert(jobs);
  }

  const stopListening = listenLive({
    onPushed({ jobs, deleted }) {
      if (jobs.length) consider(jobs);
      if (deleted.length) drop(deleted);
    },
    onReload: () => void reload(),
    onOpen: () => void (error.value && reload()),
  });

  function dispose(): void {
    stopListening();
    generation += 1;
    clearTimeout(sweeping);
    releaseJobs(rows.value);
    rows.value = [];
  }

  return { rows, leaving, pending, loading, loaded, complete, barren, error, atTop, loadMore, reload, showPending, dispose };
}
