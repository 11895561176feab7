/** How each status is shown: those of recordings as the server names them, and those of files on their way to it. */
import type { RecordingStatus } from "@/api/types";
import type { MarkWords } from "@/components/ui/marks";

export type UploadStatus = "uploading" | "ready" | "upload_failed";
export type UnifiedStatus = RecordingStatus | UploadStatus;
export type StatusView = "active" | "completed" | "failed";

export interface StatusWords extends MarkWords {
  view: StatusView;
}

/** In the order in which they are listed: what moves comes first. */
export const STATUS: Readonly<Record<UnifiedStatus, StatusWords>> = {
  uploading: { label: "Uploading", icon: "cloud", tone: "blue", view: "active" },
  PROCESSING: { label: "Transcribing", icon: "microphone", tone: "purple", view: "active" },
  SUMMARIZING: { label: "Summarising", icon: "file", tone: "green", view: "active" },
  PENDING: { label: "Queued", icon: "clock", tone: "yellow", view: "active" },
  ready: { label: "Ready to upload", icon: "clock", tone: "gray", view: "active" },
  upload_failed: { label: "Upload failed", icon: "alert", tone: "red", view: "failed" },
  FAILED: { label: "Failed", icon: "alert", tone: "red", view: "failed" },
  COMPLETED: { label: "Done", icon: "done", tone: "green", view: "completed" },
  CANCELLED: { label: "Cancelled", icon: "stop", tone: "gray", view: "completed" },
};

const ORDER = new Map(Object.keys(STATUS).map((status, at) => [status, at]));

/** Of recordings, in the order in which they come about. */
export const RECORDING_STATUSES: readonly RecordingStatus[] = [
  "PENDING",
  "PROCESSING",
  "SUMMARIZING",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
];

export function byPriority(left: UnifiedStatus, right: UnifiedStatus): number {
  return (ORDER.get(left) ?? 0) - (ORDER.get(right) ?? 0);
}

export function viewOf(status: UnifiedStatus): StatusView {
  return STATUS[status].view;
}
