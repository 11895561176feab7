/** The words for where a recording is, from a file that waits to be uploaded to the finished transcript. One vocabulary for all. */
import type { ProcessingJob, RecordingStatus } from "@/api/types";
import type { IconName } from "@/components/ui/icons";

export type UnifiedStatus =
  "uploading" | "transcribing" | "summarizing" | "queued" | "ready" | "completed" | "failed" | "upload_failed" | "cancelled";

export type StatusView = "active" | "completed" | "failed";
export type StatusTone = "blue" | "purple" | "green" | "yellow" | "gray" | "red";

export interface StatusWords {
  label: string;
  icon: IconName;
  tone: StatusTone;
  view: StatusView;
}

/** In the order in which they are listed: what moves comes first. */
export const STATUS: Readonly<Record<UnifiedStatus, StatusWords>> = {
  uploading: { label: "Uploading", icon: "cloud", tone: "blue", view: "active" },
  transcribing: { label: "Transcribing", icon: "microphone", tone: "purple", view: "active" },
  summarizing: { label: "Summarising", icon: "file", tone: "green", view: "active" },
  queued: { label: "Queued", icon: "clock", tone: "yellow", view: "active" },
  ready: { label: "Ready to upload", icon: "clock", tone: "gray", view: "active" },
  upload_failed: { label: "Upload failed", icon: "alert", tone: "red", view: "failed" },
  failed: { label: "Failed", icon: "alert", tone: "red", view: "failed" },
  completed: { label: "Done", icon: "done", tone: "green", view: "completed" },
  cancelled: { label: "Cancelled", icon: "stop", tone: "gray", view: "completed" },
};

export const STATUSES = Object.keys(STATUS) as UnifiedStatus[];
const ORDER = new Map(STATUSES.map((status, at) => [status, at]));

export function byPriority(left: UnifiedStatus, right: UnifiedStatus): number {
  return (ORDER.get(left) ?? 0) - (ORDER.get(right) ?? 0);
}

export function viewOf(status: UnifiedStatus): StatusView {
  return STATUS[status].view;
}

const OF_RECORDING: Readonly<Record<RecordingStatus, UnifiedStatus>> = {
  PENDING: "queued",
  PROCESSING: "transcribing",
  SUMMARIZING: "summarizing",
  COMPLETED: "completed",
  FAILED: "failed",
  CANCELLED: "cancelled",
};

export function statusOfRecording(status: RecordingStatus): UnifiedStatus {
  return OF_RECORDING[status];
}

/** The server's own table: what a recording is while a job of either kind is so. */
export function statusOfJob(job: Pick<ProcessingJob, "job_status" | "queue_type">): UnifiedStatus {
  const summary = job.queue_type === "summary";
  switch (job.job_status) {
    case "queued":
      return summary ? "summarizing" : "queued";
    case "processing":
      return summary ? "summarizing" : "transcribing";
    case "completed":
      return "completed";
    case "failed":
      return "failed";
    case "cancelled":
      return summary ? "completed" : "cancelled";
  }
}

/** Which of a recording's jobs speaks for it: what is under way, transcription first, else the newest. */
export function speaker<T extends Pick<ProcessingJob, "id" | "job_status" | "queue_type">>(jobs: readonly T[]): T | null {
  const inOrder = [...jobs].sort((left, right) => (left.id < right.id ? -1 : 1));
  const live = inOrder.filter((job) => job.job_status === "queued" || job.job_status === "processing");
  return live.find((job) => job.queue_type === "transcription") ?? live[0] ?? inOrder.at(-1) ?? null;
}
