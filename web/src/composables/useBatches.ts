/** The list of batches, newest first: pushed rows are shown as they come. */
import type { Batch } from "@/api/types";
import { usePages, type Pages } from "@/composables/usePages";
import { listBatches, type BatchFilter } from "@/services/batches/batch";
import { batchesIn, withNews } from "@/services/batches/news";

/** A new one is shown at once, but many of them not one by one. */
const AT_ONCE_MS = 300;
const SOON_MS = 1000;

export function useBatches(filter: () => BatchFilter): Pages<Batch> {
  const pages: Pages<Batch> = usePages((after) => listBatches(filter(), after), {
    watch: filter,
    after(pushed) {
      const news = batchesIn(pushed);
      if (!news.length) return null;
      pages.amend((rows) => withNews(rows, news));
      // Ids grow with time: only what is newer than the first row is missing, unless a filter hides more.
      const newest = pages.items.value?.[0]?.id ?? "";
      if (news.some(({ id, row }) => row !== null && id > newest)) return AT_ONCE_MS;
      return filter().status.length ? SOON_MS : null;
    },
  });
  return pages;
}
