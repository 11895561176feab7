/** Rows for tests about recordings and uploads, with only what a test is about spelt out. */
import type { ProcessingJob, Recording } from "@/api/types";
import { heard, type HeardRecording } from "@/services/recordings/news";
import { NO_OPTIONS, type FileLike, type FileMeta, type UploadRow } from "@/services/uploads/row";

export function processing(id: string, recording: string, change: Partial<ProcessingJob> = {}): ProcessingJob {
  return {
    id,
    recording_id: recording,
    recording_title: `Recording ${recording}`,
    job_status: "queued",
    job_type: "transcribe",
    queue_type: "transcription",
    position: null,
    position_is_more: false,
    is_new_upload: true,
    error_message: null,
    error_remedy: null,
    created_at: "2026-11-16T10:00:00.000Z",
    started_at: null,
    completed_at: null,
    progress: null,
    eta_seconds: null,
    waiting_for: null,
    ...change,
  };
}

export function upload(id: string, change: Partial<UploadRow> = {}): UploadRow {
  return {
    id,
    name: `${id}.mp3`,
    size: 1000,
    status: "uploading",
    sent: 0,
    pace: null,
    handingOver: false,
    recordingId: null,
    jobId: null,
    problem: null,
    options: { ...NO_OPTIONS },
    addedAt: 1000,
    ...change,
  };
}

export function file(change: Partial<Omit<FileLike, "meta">> & { meta?: Partial<FileMeta> } = {}): FileLike {
  const meta: FileMeta = {
    client: "c1",
    options: { ...NO_OPTIONS },
    addedAt: 1,
    wanted: false,
    problem: null,
    recording: null,
    ...change.meta,
  };
  return { id: "uppy-1", name: "talk.mp3", size: 1000, progress: {}, ...change, meta };
}

export function recording(id: string, change: Partial<Recording> = {}): Recording {
  return {
    id,
    title: `Recording ${id}`,
    status: "PENDING",
    tenant: "acme",
    file_name: "talk.mp3",
    media_type: "audio/mpeg",
    bytes: 1000,
    duration: null,
    language: null,
    model: null,
    speakers: false,
    auto_summary: false,
    template: null,
    tags: [],
    extension: "mp3",
    duplicates: 0,
    duplicate_of: null,
    creator: "ann",
    created_at: "2026-11-16T10:00:00.000Z",
    has_transcript: false,
    has_summary: false,
    warning: null,
    error: null,
    needs_retry: false,
    job: null,
    ...change,
  };
}

/** A recording as it was just told, with the job that its status comes from. */
export function told(id: string, status: Recording["status"], job: Partial<ProcessingJob> = {}): HeardRecording {
  const job_status = JOB_STATUS[status];
  return heard(
    recording(id, {
      status,
      error: job.error_message ?? null,
      needs_retry: status === "FAILED" || status === "CANCELLED",
      job: processing(`j-${id}`, id, { job_status, ...job }),
    }),
  );
}

const JOB_STATUS: Record<Recording["status"], ProcessingJob["job_status"]> = {
  PENDING: "queued",
  PROCESSING: "processing",
  SUMMARIZING: "processing",
  COMPLETED: "completed",
  FAILED: "failed",
  CANCELLED: "cancelled",
};
