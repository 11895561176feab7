/**
 * One list of everything that is going on with recordings: the server's own, files that wait to be uploaded, and uploads
 * under way. A recording is `rec_{id}`, a file without one `client_{id}`; an upload that got its recording's id becomes
 * that row, and what the server says of it wins.
 */
import type { ProcessingJob } from "@/api/types";
import type { HeardRecording } from "@/services/recordings/news";
import { byPriority, viewOf, type StatusView, type UnifiedStatus } from "@/services/recordings/status";
import { titleOf, type UploadRow } from "@/services/uploads/row";

export interface UnifiedItem {
  key: string;
  /** Stays the same when an upload becomes a recording, so that its row stays in place. */
  place: string;
  status: UnifiedStatus;
  /** Whether nothing comes of it unless somebody says so. */
  stopped: boolean;
  title: string;
  recordingId: string | null;
  jobId: string | null;
  clientId: string | null;
  recording: HeardRecording | null;
  /** The job that the recording's status comes from. */
  job: ProcessingJob | null;
  upload: UploadRow | null;
  /** For the order among equals, and for what is recent. */
  at: number;
}

/** `places` remembers which upload a recording came from, after the upload itself is forgotten. */
export function unify(
  recordings: readonly HeardRecording[],
  uploads: readonly UploadRow[],
  places: ReadonlyMap<string, string> = new Map(),
): UnifiedItem[] {
  const items = new Map<string, UnifiedItem>();
  for (const recording of recordings) items.set(`rec_${recording.id}`, ofRecording(recording, places.get(recording.id)));
  for (const upload of uploads) {
    const key = upload.recordingId ? `rec_${upload.recordingId}` : `client_${upload.id}`;
    const known = items.get(key);
    if (known) items.set(key, { ...known, place: `client_${upload.id}`, clientId: upload.id, upload });
    else items.set(key, ofUpload(upload, key));
  }
  return [...items.values()].sort(inOrder);
}

function ofRecording(recording: HeardRecording, client: string | undefined): UnifiedItem {
  const { id, job } = recording;
  return {
    key: `rec_${id}`,
    place: client ? `client_${client}` : `rec_${id}`,
    status: recording.status,
    stopped: recording.needs_retry,
    title: recording.title,
    recordingId: id,
    jobId: job?.id ?? null,
    clientId: null,
    recording,
    job,
    upload: null,
    at: Date.parse(job?.completed_at ?? job?.created_at ?? recording.created_at),
  };
}

/** An upload that is a recording already is on its way until the server says where the recording is. */
function ofUpload(upload: UploadRow, key: string): UnifiedItem {
  return {
    key,
    place: `client_${upload.id}`,
    status: upload.status,
    stopped: upload.status === "upload_failed",
    title: titleOf(upload),
    recordingId: upload.recordingId,
    jobId: upload.jobId,
    clientId: upload.id,
    recording: null,
    job: null,
    upload,
    at: upload.addedAt,
  };
}

/** By status; those that wait in the order of the line, those under way oldest first, those that ended newest first. */
function inOrder(left: UnifiedItem, right: UnifiedItem): number {
  const status = byPriority(left.status, right.status);
  if (status) return status;
  if (left.status === "PENDING")
    return (left.job?.position ?? Infinity) - (right.job?.position ?? Infinity) || left.at - right.at;
  return viewOf(left.status) === "active" ? left.at - right.at : right.at - left.at;
}

export function inView(items: readonly UnifiedItem[], view: StatusView): UnifiedItem[] {
  return items.filter((item) => viewOf(item.status) === view);
}

/** Recordings that came to their end between two looks at the list: whoever waits for them is told. */
export function endings(before: readonly UnifiedItem[], after: readonly UnifiedItem[]): UnifiedItem[] {
  const live = new Set(before.filter((item) => viewOf(item.status) === "active").map((item) => item.place));
  return after.filter(
    (item) => (item.status === "COMPLETED" || item.status === "FAILED") && live.has(item.place) && item.recordingId !== null,
  );
}
