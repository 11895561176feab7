/** A list that is read page by page, whose rows are pushed as the server lists them and shown as they come. */
import type { WatchSource } from "vue";
import { usePages, type Pages } from "@/composables/usePages";
import type { Page } from "@/services/jobs";
import { withNews } from "@/services/news";
import type { Pushed, RowPush } from "@/stores/live";

export interface PushedPagesOptions<Row> {
  rows(pushed: Pushed): RowPush<Row>[];
  /** Begins anew with the first page when this changes. */
  watch?: WatchSource;
  /** Whether a filter may hide rows that fit by now, or show some that do not. */
  narrowed?(): boolean;
  /** Whether a row that is not shown belongs there; the newest first if nothing else is said. */
  lacks?(row: Row, shown: readonly Row[]): boolean;
}

/** A new one is shown at once, but many of them not one by one. */
const AT_ONCE_MS = 300;
const SOON_MS = 1000;

export function usePushedPages<Row extends { id: string }>(
  load: (after: string | null) => Promise<Page<Row>>,
  options: PushedPagesOptions<Row>,
): Pages<Row> {
  const lacks = options.lacks ?? isNewer;
  const pages: Pages<Row> = usePages(load, {
    watch: options.watch,
    after(pushed) {
      const news = options.rows(pushed);
      if (!news.length) return null;
      pages.amend((rows) => withNews(rows, news));
      const shown = pages.items.value ?? [];
      if (news.some(({ row }) => row !== null && lacks(row, shown))) return AT_ONCE_MS;
      return options.narrowed?.() ? SOON_MS : null;
    },
  });
  return pages;
}

/** Ids grow with time: only what is newer than the first row is missing. */
function isNewer(row: { id: string }, shown: readonly { id: string }[]): boolean {
  return row.id > (shown[0]?.id ?? "");
}
