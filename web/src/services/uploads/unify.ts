/**
 * One list of everything that is going on with recordings: the server's jobs, files that wait to be uploaded, and uploads
 * under way. A recording is `rec_{id}`, a file without one `client_{id}`; an upload that got its recording's id becomes
 * that row, and what the server says of it wins.
 */
import type { ProcessingJob } from "@/api/types";
import { byPriority, speaker, statusOfJob, viewOf, type StatusView, type UnifiedStatus } from "@/services/recordings/status";
import { titleOf, type UploadRow } from "@/services/uploads/row";

export interface UnifiedItem {
  key: string;
  /** Stays the same when an upload becomes a recording, so that its row stays in place. */
  place: string;
  status: UnifiedStatus;
  title: string;
  recordingId: string | null;
  jobId: string | null;
  clientId: string | null;
  job: ProcessingJob | null;
  upload: UploadRow | null;
  /** For the order among equals, and for what is recent. */
  at: number;
}

/** `places` remembers which upload a recording came from, after the upload itself is forgotten. */
export function unify(
  jobs: readonly ProcessingJob[],
  uploads: readonly UploadRow[],
  places: ReadonlyMap<string, string> = new Map(),
): UnifiedItem[] {
  const items = new Map<string, UnifiedItem>();
  for (const [recordingId, its] of grouped(jobs)) {
    const job = speaker(its);
    if (job) items.set(`rec_${recordingId}`, ofJob(job, places.get(recordingId)));
  }
  for (const upload of uploads) {
    const key = upload.recordingId ? `rec_${upload.recordingId}` : `client_${upload.id}`;
    const known = items.get(key);
    if (known) items.set(key, { ...known, place: `client_${upload.id}`, clientId: upload.id, upload });
    else items.set(key, ofUpload(upload, key));
  }
  return [...items.values()].sort(inOrder);
}

function grouped(jobs: readonly ProcessingJob[]): Map<string, ProcessingJob[]> {
  const found = new Map<string, ProcessingJob[]>();
  for (const job of jobs) found.set(job.recording_id, [...(found.get(job.recording_id) ?? []), job]);
  return found;
}

function ofJob(job: ProcessingJob, client: string | undefined): UnifiedItem {
  const key = `rec_${job.recording_id}`;
  return {
    key,
    place: client ? `client_${client}` : key,
    status: statusOfJob(job),
    title: job.recording_title,
    recordingId: job.recording_id,
    jobId: job.id,
    clientId: null,
    job,
    upload: null,
    at: Date.parse(job.completed_at ?? job.created_at),
  };
}

/** An upload that is a recording already waits in line, until the server says more. */
function ofUpload(upload: UploadRow, key: string): UnifiedItem {
  return {
    key,
    place: `client_${upload.id}`,
    status: upload.recordingId ? "queued" : upload.status,
    title: titleOf(upload),
    recordingId: upload.recordingId,
    jobId: upload.jobId,
    clientId: upload.id,
    job: null,
    upload,
    at: upload.addedAt,
  };
}

/** By status; those that wait in the order of the line, those under way oldest first, those that ended newest first. */
function inOrder(left: UnifiedItem, right: UnifiedItem): number {
  const status = byPriority(left.status, right.status);
  if (status) return status;
  if (left.status === "queued")
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
    (item) => (item.status === "completed" || item.status === "failed") && live.has(item.place) && item.recordingId !== null,
  );
}
