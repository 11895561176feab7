/** What the push stream says about the jobs of recordings, put into the shape in which the recordings API tells of them. */
import type { Job, ProcessingJob } from "@/api/types";

const KINDS: Readonly<Record<string, ProcessingJob["queue_type"]>> = {
  transcribe: "transcription",
  reprocess_transcription: "transcription",
  summarize: "summary",
  reprocess_summary: "summary",
};

/** Whether a job works on a recording; its helpers (`transcribe.windows`) do not speak for it. */
export function isRecordingJob(job: Pick<Job, "operation">): boolean {
  return job.operation in KINDS;
}

function statusOf(row: Job): ProcessingJob["job_status"] {
  switch (row.state) {
    case "queued":
      // Its children have run: for an instant it is back in the queue, in the middle of things.
      return row.children && row.children.total > 0 && !row.run_at ? "processing" : "queued";
    case "running":
    case "waiting":
      return "processing";
    case "succeeded":
    case "partial":
      return "completed";
    default:
      return row.state;
  }
}

/** The job as it is told of, brought up to date by a pushed row. Place and estimate are not pushed; old ones are let go. */
export function patched(job: ProcessingJob, row: Job): ProcessingJob {
  const status = statusOf(row);
  const same = status === job.job_status;
  const live = status === "queued" || status === "processing";
  return {
    ...job,
    job_status: status,
    position: same && status === "queued" ? job.position : null,
    position_is_more: same && status === "queued" && job.position_is_more,
    progress: row.progress ? { current: row.progress.current, total: row.progress.total } : null,
    error_message: status === "failed" ? (row.error?.message ?? null) : null,
    error_remedy: status === "failed" && same ? job.error_remedy : null,
    started_at: row.started_at,
    completed_at: row.finished_at,
    eta_seconds: live && same ? job.eta_seconds : null,
    waiting_for: live && same ? job.waiting_for : null,
  };
}

/** A job that was pushed before anybody asked for it, of a recording that is known by one of its other jobs. */
export function pushedJob(row: Job, sibling: ProcessingJob): ProcessingJob {
  const fresh: ProcessingJob = {
    ...sibling,
    id: row.id,
    job_type: row.operation as ProcessingJob["job_type"],
    queue_type: KINDS[row.operation] ?? sibling.queue_type,
    job_status: "queued",
    is_new_upload: false,
    created_at: row.created_at,
    position: null,
    position_is_more: false,
    eta_seconds: null,
    waiting_for: null,
    error_remedy: null,
  };
  return patched(fresh, row);
}
