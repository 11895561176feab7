/** A list that is read page by page, on request, and asked for anew as one: as much of it as is shown. */
import { computed, watch, type ComputedRef, type Ref, type WatchSource } from "vue";
import { useLiveQuery, type LiveQueryOptions } from "@/composables/useLiveQuery";
import type { Page } from "@/services/jobs";
import type { Problem } from "@/services/problem";

export interface PagesOptions<T> extends Omit<LiveQueryOptions<Page<T>>, "watch" | "into"> {
  /** Begins anew with the first page when this changes; what is shown stays until then. */
  watch?: WatchSource;
}

export interface Pages<T> {
  /** null until the first page is there. */
  items: ComputedRef<T[] | null>;
  more: ComputedRef<boolean>;
  error: Ref<Problem | null>;
  loading: Ref<boolean>;
  missed: Ref<boolean>;
  loadMore(): Promise<void>;
  reload(): Promise<void>;
  /** Asks for the first page only; the rest comes on request again. */
  restart(): Promise<void>;
  /** As of a live query; `more` says whether the list goes on after these items. */
  amend(change: (items: T[], more: boolean) => T[]): void;
}

type Purpose = "anew" | "again" | "more";

/** Of a long list only the beginning is asked for anew. */
const MOST_RELOADED = 300;

export function usePages<T extends { id: string | number }>(
  load: (after: string | null) => Promise<Page<T>>,
  options: PagesOptions<T> = {},
): Pages<T> {
  /** What the next question is for, and what the one on its way is for. */
  let next: Purpose = "anew";
  let asking: Purpose = "anew";

  function ask(shown: Page<T> | null): Promise<Page<T>> {
    [asking, next] = [next, "again"];
    if (!shown || asking === "anew") return load(null);
    return asking === "more" ? followed(shown) : asMuchAs(shown.items.length);
  }

  async function followed(shown: Page<T>): Promise<Page<T>> {
    const page = await load(shown.next);
    const known = new Set(shown.items.map((item) => item.id));
    return { items: [...shown.items, ...page.items.filter((item) => !known.has(item.id))], next: page.next };
  }

  async function asMuchAs(wanted: number): Promise<Page<T>> {
    let found = await load(null);
    while (found.next !== null && found.items.length < Math.min(wanted, MOST_RELOADED)) found = await followed(found);
    return found;
  }

  const { watch: source, ...rest } = options;
  const { data, error, loading, missed, reload, amend } = useLiveQuery(ask, rest);
  const more = computed(() => data.value?.next != null);

  function begin(purpose: Purpose): Promise<void> {
    next = purpose;
    return reload();
  }

  /** Whoever scrolls does not wait until the list was asked for anew; that is made good afterwards. */
  async function loadMore(): Promise<void> {
    if (!more.value || (loading.value && asking !== "again")) return;
    const overtakes = loading.value;
    await begin("more");
    if (overtakes) await reload();
  }

  if (source) watch(source, () => void begin("anew"), { deep: true });

  return {
    items: computed(() => data.value?.items ?? null),
    more,
    error,
    loading,
    missed,
    loadMore,
    reload,
    restart: () => begin("anew"),
    amend: (change) => amend((shown) => ({ ...shown, items: change(shown.items, shown.next !== null) })),
  };
}
