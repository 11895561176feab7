/** A job's children, oldest first, as they were made: the first page is kept current, and more come on request. */
import { watch, type ComputedRef, type Ref, type ShallowRef } from "vue";
import type { Job } from "@/api/types";
import { useHeld } from "@/composables/useHeld";
import { usePages } from "@/composables/usePages";
import { listChildren, type Page } from "@/services/jobs";
import type { Problem } from "@/services/problem";

export interface Children {
  /** The shared objects, which move with the stream. */
  rows: Readonly<ShallowRef<Job[]>>;
  more: ComputedRef<boolean>;
  error: Ref<Problem | null>;
  reload(): Promise<void>;
  loadMore(): Promise<void>;
}

const PART = 50;

export function useChildren(id: string, total: () => number): Children {
  let askedFor = 0;
  const { items, more, error, loading, reload, loadMore, amend } = usePages(load, {
    after({ deleted }) {
      if (deleted.length) amend((known) => known.filter((row) => !deleted.includes(row.id)));
      return null;
    },
  });

  /** Most jobs have none, and are not asked. */
  function load(after: string | null): Promise<Page<Job>> {
    askedFor = total();
    return askedFor > 0 ? listChildren(id, { after, limit: PART }) : Promise.resolve({ items: [], next: null });
  }

  /** New children are loaded while the first page is not full, one question at a time; beyond that they come on request. */
  watch([total, loading], () => {
    const [now, shown] = [total(), items.value?.length ?? 0];
    if (!loading.value && now !== askedFor && shown < Math.min(now, PART)) void reload();
  });

  return { rows: useHeld(() => items.value), more, error, reload, loadMore };
}
