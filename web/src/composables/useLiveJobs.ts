/**
 * A list of jobs, newest first, that keeps itself up to date without flicker. Rows change in place because they are the
 * shared objects of stores/jobs. New rows appear at once while the reader is at the top, and wait behind a pill when not,
 * so that nothing moves under the reader's eyes. Rows that leave the filter stay, dimmed, for a moment.
 */
import { computed, ref, shallowReactive, watch, type Ref, type ShallowRef } from "vue";
import type { Job } from "@/api/types";
import { useHeld } from "@/composables/useHeld";
import { useLeaving } from "@/composables/useLeaving";
import { usePages } from "@/composables/usePages";
import type { Page } from "@/services/jobs";
import type { Problem } from "@/services/problem";
import type { JobPush, Pushed } from "@/stores/live";

export interface JobSource {
  load(after: string | null): Promise<Page<Job>>;
  matches(job: Job): boolean;
  /** How long a row that no longer matches stays. */
  lingerMs?: number;
  /** A list that has grown longer than this begins anew with its first page, while the reader is at the top. */
  most?: number;
  /** Never shows more than this; for lists that are a glance, not a place to scroll. */
  cap?: number;
}

export interface JobList {
  rows: Readonly<ShallowRef<Job[]>>;
  leaving: Readonly<Ref<Set<string>>>;
  pending: Readonly<Ref<number>>;
  loading: Readonly<Ref<boolean>>;
  loaded: Readonly<Ref<boolean>>;
  complete: Readonly<Ref<boolean>>;
  /** Many pages in a row held nothing; going on is the reader's decision. */
  barren: Readonly<Ref<boolean>>;
  error: Readonly<Ref<Problem | null>>;
  /** Whether the last question got no answer; it is asked again when the server is back. */
  missed: Readonly<Ref<boolean>>;
  /** Set by whoever scrolls: whether new rows may appear at once. */
  atTop: Ref<boolean>;
  loadMore(): Promise<void>;
  reload(): Promise<void>;
  showPending(): void;
}

/** A page may be empty and still have a next one: the server looks at a bounded number of rows per request. */
const BARREN_PAGES = 12;
const LINGER_MS = 3000;
const MOST = 1500;

export function useLiveJobs(source: JobSource): JobList {
  const atTop = ref(true);
  const waiting = shallowReactive(new Map<string, Job>());
  const emptyPages = ref(0);
  const barren = computed(() => emptyPages.value >= BARREN_PAGES);

  const pages = usePages(load, { after: take });
  const rows = useHeld(() => pages.items.value);
  const leaving = useLeaving(source.lingerMs ?? LINGER_MS, drop);

  async function load(after: string | null): Promise<Page<Job>> {
    const page = await source.load(after);
    const before = after === null ? 0 : emptyPages.value;
    emptyPages.value = page.items.length || barren.value ? 0 : before + 1;
    return page;
  }

  function take({ jobs, deleted }: Pushed): null {
    const news = newest(jobs);
    if (news.length) pages.amend((items, more) => judged(items, more, news));
    if (deleted.length) drop(deleted);
    const length = pages.items.value?.length ?? 0;
    if (length > (source.most ?? MOST) && atTop.value && !pages.loading.value) void pages.restart();
    return null;
  }

  /** What news mean depends on the rows: of an answer that was on its way they are judged once more. */
  function judged(items: Job[], more: boolean, news: readonly Job[]): Job[] {
    const shown = new Set(items.map((item) => item.id));
    const arriving: Job[] = [];
    for (const job of news) {
      const fits = source.matches(job);
      if (shown.has(job.id)) leaving.mark(job.id, !fits);
      else if (!fits) waiting.delete(job.id);
      else if (reaches(items, more, job.id)) arriving.push(job);
    }
    if (atTop.value) return withJobs(items, arriving);
    for (const job of arriving) waiting.set(job.id, job);
    return items;
  }

  function withJobs(items: Job[], jobs: readonly Job[]): Job[] {
    if (!jobs.length) return items;
    const merged = [...jobs, ...items].sort((left, right) => (left.id < right.id ? 1 : left.id > right.id ? -1 : 0));
    return merged.slice(0, source.cap);
  }

  function drop(ids: readonly string[]): void {
    const gone = new Set(ids);
    pages.amend((items) => (items.some(({ id }) => gone.has(id)) ? items.filter(({ id }) => !gone.has(id)) : items));
    for (const id of ids) waiting.delete(id);
  }

  function showPending(): void {
    const jobs = [...waiting.values()];
    pages.amend((items) => {
      const shown = new Set(items.map((item) => item.id));
      return withJobs(
        items,
        jobs.filter((job) => !shown.has(job.id)),
      );
    });
    waiting.clear();
  }

  /** Whatever brought a row or took it away: it no longer waits, and what is not there does not leave. */
  watch(
    rows,
    (now) => {
      const shown = new Set(now.map((row) => row.id));
      for (const id of waiting.keys()) if (shown.has(id)) waiting.delete(id);
      for (const id of leaving.ids.value) if (!shown.has(id)) leaving.mark(id, false);
    },
    { flush: "sync" },
  );

  const loaded = computed(() => pages.items.value !== null);
  return {
    rows,
    leaving: leaving.ids,
    pending: computed(() => waiting.size),
    loading: pages.loading,
    loaded,
    complete: computed(() => loaded.value && !pages.more.value),
    barren,
    error: pages.error,
    missed: pages.missed,
    atTop,
    loadMore: pages.loadMore,
    reload: pages.reload,
    showPending,
  };
}

/** Of each job what was said last. */
function newest(pushes: readonly Pick<JobPush, "job">[]): Job[] {
  return [...new Map(pushes.map(({ job }) => [job.id, job])).values()];
}

/** Jobs beyond the last page that was loaded come with their own page. */
function reaches(items: readonly Job[], more: boolean, id: string): boolean {
  const last = items.at(-1);
  return !more || last === undefined || id > last.id;
}
