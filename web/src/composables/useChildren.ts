/** A job's children: the first page, kept current by the stream, and more on request. Oldest first, as they were made. */
import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef } from "vue";
import type { Job } from "@/api/types";
import { listChildren } from "@/services/jobs";
import { applyJob, holdJob, releaseJobs } from "@/stores/jobs";
import { listenLive } from "@/stores/live";

export interface Children {
  rows: ShallowRef<Job[]>;
  more: Ref<boolean>;
  loadMore(): Promise<void>;
}

const PART = 50;

export function useChildren(id: string, total: () => number): Children {
  const rows = shallowRef<Job[]>([]);
  const next = ref<string | null>(null);
  const more = ref(false);
  let over = false;

  async function load(after: string | null): Promise<void> {
    const page = await listChildren(id, { after, limit: PART }).catch(() => null);
    if (!page || over) return;
    const known = new Set(rows.value.map((row) => row.id));
    const fresh = page.items.filter((item) => !known.has(item.id)).map(holdJob);
    for (const item of page.items) applyJob(item);
    rows.value = [...rows.value, ...fresh];
    next.value = page.next;
    more.value = page.next !== null;
  }

  /** New children are loaded while the first page is not full; beyond that they come on request. */
  watch(total, (now) => now > 0 && rows.value.length < Math.min(now, PART) && void load(null), { immediate: true });

  const stopListening = listenLive({
    onDeleted: (ids) => (rows.value = rows.value.filter((row) => !ids.includes(row.id))),
    onReload: () => void (total() > 0 && load(null)),
  });
  onScopeDispose(() => {
    over = true;
    stopListening();
    releaseJobs(rows.value);
  });

  return { rows, more, loadMore: () => load(next.value) };
}
