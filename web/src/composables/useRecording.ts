/**
 * One recording with its transcript. Its row is shown as it is pushed; what is not on the row (the transcript, the summary,
 * all its jobs) is asked for when more than progress changed. While it waits its turn, other recordings that move make it
 * ask too, because they change its place in line.
 */
import { computed, ref, type ComputedRef, type Ref, type ShallowRef } from "vue";
import type { RecordingDetail, Segment, Transcript } from "@/api/types";
import { useLiveQuery, type LiveQuery } from "@/composables/useLiveQuery";
import type { Problem } from "@/services/problem";
import { askWithin, createNewsReader, ESTIMATES_MS, heard, withNews, type HeardRecording } from "@/services/recordings/news";
import { getRecording, getTranscript } from "@/services/recordings/recording";
import { viewOf } from "@/services/recordings/status";

export type HeardDetail = RecordingDetail & HeardRecording;

export interface RecordingView {
  recording: ShallowRef<HeardDetail | null>;
  transcript: ShallowRef<Transcript | null>;
  error: Ref<Problem | null>;
  transcriptError: Ref<Problem | null>;
  deleted: ComputedRef<boolean>;
  live: ComputedRef<boolean>;
  reload(): Promise<void>;
  /** An answer of the server that is newer than what is shown. */
  take(found: RecordingDetail): void;
  takeLine(line: Segment): void;
  reloadTranscript(): Promise<void>;
}

const SOON_MS = 300;
const LATER_MS = 3000;

export function useRecording(id: string): RecordingView {
  const readNews = createNewsReader();
  const gone = ref(false);
  const query: LiveQuery<HeardDetail> = useLiveQuery(async () => heard(await getRecording(id)), {
    after(pushed) {
      const news = readNews(pushed);
      const own = news.filter((one) => one.id === id);
      gone.value ||= own.some(({ row }) => row === null);
      query.amend((shown) => withNews([shown], own)[0] ?? shown);
      return askWithin(own, SOON_MS) ?? (live.value ? askWithin(news, LATER_MS) : null);
    },
    pollMs: ESTIMATES_MS,
    pollWhile: () => live.value,
  });
  const live = computed(() => query.data.value !== null && viewOf(query.data.value.status) === "active");

  /** What changes when there is more of the transcript: it is another one, or more of the audio was heard. */
  const newest = computed((): string | null => {
    const found = query.data.value;
    if (!found || found.transcript) return found?.transcript?.id ?? null;
    const heardSeconds = found.job?.progress?.current ?? 0;
    return heardSeconds > 0 ? `heard until ${heardSeconds}` : null;
  });
  const text = useLiveQuery<Transcript | null>(() => (newest.value === null ? Promise.resolve(null) : getTranscript(id)), {
    watch: newest,
  });

  return {
    recording: query.data,
    transcript: text.data,
    error: query.error,
    transcriptError: text.error,
    deleted: computed(() => gone.value || (query.data.value !== null && query.error.value?.status === 404)),
    live,
    reload: query.reload,
    take: (found) => query.amend(() => heard(found)),
    takeLine: (line) => text.amend((shown) => shown && withLine(shown, line)),
    reloadTranscript: text.reload,
  };
}

function withLine(transcript: Transcript, line: Segment): Transcript {
  return { ...transcript, segments: transcript.segments.map((known) => (known.number === line.number ? line : known)) };
}
