/** The list of recordings, newest first: pushed rows are shown as they come, and the rest is asked for when something moved. */
import { usePages, type Pages } from "@/composables/usePages";
import type { Page } from "@/services/jobs";
import { listRecordings, type RecordingFilter } from "@/services/recordingList";
import { askWithin, createNewsReader, ESTIMATES_MS, heard, withNews, type HeardRecording } from "@/services/recordings/news";
import { viewOf } from "@/services/recordings/status";

const SOON_MS = 1000;
/** A new recording is shown at once, but many of them not one by one. */
const AT_ONCE_MS = 300;

export function useRecordings(filter: () => RecordingFilter): Pages<HeardRecording> {
  const readNews = createNewsReader();
  const pages: Pages<HeardRecording> = usePages(load, {
    watch: filter,
    after(pushed) {
      const news = readNews(pushed);
      pages.amend((rows) => withNews(rows, news));
      const shown = new Set(pages.items.value?.map((row) => row.id));
      const fresh = news.some(({ id, row, moved }) => moved && row !== null && !shown.has(id));
      return fresh ? AT_ONCE_MS : askWithin(news, SOON_MS);
    },
    pollMs: ESTIMATES_MS,
    pollWhile: () => pages.items.value?.some((row) => viewOf(row.status) === "active") ?? false,
  });

  async function load(after: string | null): Promise<Page<HeardRecording>> {
    const page = await listRecordings(filter(), after);
    return { ...page, items: page.items.map(heard) };
  }

  return pages;
}
