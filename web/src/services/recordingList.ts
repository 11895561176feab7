/** Recordings as a list, and the jobs that work on them. */
import type { Recording, RecordingStatus } from "@/api/types";
import { underBase } from "@/services/base";
import { inParts, type Outcome } from "@/services/many";
import { answer, client } from "@/services/client";
import type { Page } from "@/services/jobs";
import { Problem } from "@/services/problem";
import { capital } from "@/format/words";

export interface RecordingFilter {
  text: string;
  tag: string;
  status: RecordingStatus[];
}

export type ExportFormat = "txt" | "srt" | "vtt" | "json" | "md" | "docx" | "pdf";
export const EXPORT_FORMATS: readonly { value: ExportFormat; title: string }[] = [
  { value: "txt", title: "Plain text" },
  { value: "docx", title: "Word" },
  { value: "pdf", title: "PDF" },
  { value: "md", title: "Markdown" },
  { value: "srt", title: "Subtitles (SRT)" },
  { value: "vtt", title: "Subtitles (VTT)" },
  { value: "json", title: "JSON" },
];

export function listRecordings(filter: RecordingFilter, after: string | null, limit = 50): Promise<Page<Recording>> {
  const query = {
    text: filter.text || undefined,
    status: filter.status,
    tag: filter.tag ? [filter.tag] : [],
    after: after ?? undefined,
    limit,
  };
  // The client's types widen the pair in `eta_seconds` to a list.
  return answer(client.GET("/api/recordings", { params: { query } })) as Promise<Page<Recording>>;
}

/** These, in no order; those that are gone are left out. */
export async function recordingsById(ids: readonly string[]): Promise<Recording[]> {
  if (!ids.length) return [];
  const query = { id: [...ids], status: [], tag: [] };
  return (await answer(client.GET("/api/recordings", { params: { query } }))).items as Recording[];
}

/** Those of the caller's recordings with which something is being done, or was within the last hour. */
export async function getOwnRecordings(): Promise<Recording[]> {
  return (await answer(client.GET("/api/recordings/job-queue-status"))).recordings as Recording[];
}

export function deleteRecordingJob(jobId: string): Promise<{ recording_deleted: boolean }> {
  return answer(client.DELETE("/api/recordings/jobs/{job_id}", { params: { path: { job_id: jobId } } }));
}

export function cancelRecording(id: string): Promise<{ cancelled: string[] }> {
  return answer(client.POST("/api/recordings/{recording_id}/cancel", { params: { path: { recording_id: id } } }));
}

export async function clearCompleted(): Promise<number> {
  return (await answer(client.POST("/api/recordings/jobs/clear-completed"))).deleted;
}

export type RecordingAction = "retry" | "cancel" | "delete";

export function actOnRecordings(action: RecordingAction, ids: readonly string[]): Promise<Outcome> {
  return inParts(ids, (part) => answer(client.POST("/api/recordings/bulk", { body: { action, ids: part, tags: [] } })));
}

/** Which of its jobs is begun again, or whether a new one takes its place, is for the server to say. */
export async function retryRecording(id: string): Promise<Outcome> {
  const result = await actOnRecordings("retry", [id]);
  const why = result.refused[id];
  if (why !== undefined) throw new Problem({ title: "It was not retried", detail: capital(why) });
  return result;
}

/** Where the transcripts of several recordings are downloaded from, in one zip file. */
export function exportAddress(ids: readonly string[], format: ExportFormat): string {
  const query = new URLSearchParams([["format", format], ...ids.map((id) => ["id", id])]);
  return underBase(`api/recordings/export?${query}`);
}
