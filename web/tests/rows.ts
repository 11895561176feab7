/** Rows for tests: a job and its events, with only what a test is about spelt out. */
import type { Job, JobEvent, JobMessage, Recording } from "@/api/types";
import type { SseMessage } from "@/services/sse";

export function job(id: string, change: Partial<Job> = {}): Job {
  return {
    id,
    operation: "resize",
    queue: "images",
    tenant: "acme",
    lane: "acme",
    state: "queued",
    status: "QUEUED",
    reason: null,
    priority: 1,
    cost: 1,
    attempt: 0,
    fence: 0,
    failures: 0,
    max_attempts: 3,
    key: null,
    parent_id: null,
    root_id: id,
    subject: null,
    progress: null,
    children: null,
    error: null,
    worker_id: null,
    created_at: "2026-11-16T10:00:00.000Z",
    run_at: null,
    started_at: null,
    finished_at: null,
    deadline: null,
    seq: 1,
    ...change,
  };
}

export function event(jobId: string, seq: number, name = "job.progress", change: Partial<JobEvent> = {}): JobEvent {
  const ts = new Date(Date.parse("2026-11-16T10:00:00.000Z") + seq * 1000).toISOString();
  return { job_id: jobId, seq, attempt: 1, name, level: "info", message: null, fields: null, ts, ...change };
}

export function jobMessage(row: Job, events: JobEvent[] = []): SseMessage {
  const data: JobMessage = { job: row, events };
  return { id: `t${row.seq}`, event: "job", data: JSON.stringify(data) };
}

/** As the server pushes it whenever a job of the recording changed: when this page heard of it is not in it. */
export function recordingMessage(row: Recording): SseMessage {
  const data = JSON.stringify(row, (key, value: unknown) => (key === "heardAt" ? undefined : value));
  return { id: "t1", event: "recording", data };
}
