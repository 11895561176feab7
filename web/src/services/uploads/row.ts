/** A file on its way to the server, as the reader sees it. What Uppy knows of the file decides; nothing else is kept. */
import type { UploadStatus } from "@/services/recordings/status";

/** What an upload may say about itself; empty means: as the server's settings say. */
export interface UploadOptions {
  title: string;
  language: string;
  /** Who hears it; empty: as the server does. Files that were kept by an older release have none. */
  model?: string;
  speakers: boolean;
  /** null: as the server's settings say. */
  auto_summary: boolean | null;
  /** The id of a template; empty: the usual way. Files that were kept by an older release have none. */
  template?: string;
  priority: number;
}

export const NO_OPTIONS: Readonly<UploadOptions> = {
  title: "",
  language: "",
  model: "",
  speakers: false,
  auto_summary: null,
  template: "",
  priority: 1,
};

/**
 * Why an upload stopped. `network` goes on by itself, `login` after logging in, `lost` when the file is picked again;
 * `refused` needs a person, nothing helps a file that is `unfit`, and one that is `stuck` waits for its job to be retried.
 */
export interface UploadProblem {
  kind: "network" | "login" | "lost" | "refused" | "unfit" | "stuck";
  text: string;
  remedy: string | null;
}

export interface UploadRow {
  /** Of this browser; the recording's own id comes with the last byte. */
  id: string;
  name: string;
  size: number;
  status: UploadStatus;
  sent: number;
  /** Bytes per second of late; null while nobody can say. */
  pace: number | null;
  /** Every byte is there, and the server makes a recording of it. */
  handingOver: boolean;
  recordingId: string | null;
  jobId: string | null;
  problem: UploadProblem | null;
  options: UploadOptions;
  addedAt: number;
}

/** What is kept with each file, beside what Uppy keeps itself. */
export interface FileMeta {
  [key: string]: unknown;
  client: string;
  options: UploadOptions;
  addedAt: number;
  /** Somebody asked for it to be uploaded. */
  wanted: boolean;
  problem: UploadProblem | null;
  recording: { id: string; jobId: string | null } | null;
}

/** As much of Uppy's file as matters here. */
export interface FileLike {
  id: string;
  name?: string;
  size: number | null;
  isGhost?: boolean;
  meta: FileMeta;
  progress: { uploadComplete?: boolean; bytesUploaded?: number | false };
  tus?: { uploadUrl?: string | null };
}

export const LOST: UploadProblem = {
  kind: "lost",
  text: "This browser could not keep the file",
  remedy: "Choose the same file again, and it goes on where it was.",
};

export function titleOf(row: Pick<UploadRow, "name" | "options">): string {
  return row.options.title.trim() || row.name.replace(/(?<=.)\.[^.]*$/, "");
}

export function rowOf(file: FileLike, pace: number | null = null): UploadRow {
  const { meta, progress } = file;
  const size = file.size ?? 0;
  const whole = progress.uploadComplete === true;
  const problem = file.isGhost && !whole ? LOST : meta.problem;
  return {
    id: meta.client,
    name: file.name ?? "untitled",
    size,
    status: statusOf(meta, whole, problem),
    sent: whole ? size : progress.bytesUploaded || 0,
    pace,
    handingOver: whole && !meta.recording,
    recordingId: meta.recording?.id ?? null,
    jobId: meta.recording?.jobId ?? null,
    problem,
    options: meta.options,
    addedAt: meta.addedAt,
  };
}

function statusOf(meta: FileMeta, whole: boolean, problem: UploadProblem | null): UploadRow["status"] {
  if (problem) return "upload_failed";
  return whole || meta.wanted ? "uploading" : "ready";
}
