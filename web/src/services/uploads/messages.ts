/** The one line under a recording's title: how far, when, or why not. */
import { bytes, count } from "@/format/numbers";
import { duration, etaRange } from "@/format/time";
import { capital, sentence } from "@/format/words";
import type { ProcessingJob } from "@/api/types";
import type { HeardRecording } from "@/services/recordings/news";
import { timecode } from "@/services/recordings/timecode";
import type { UploadProblem, UploadRow } from "@/services/uploads/row";
import type { UnifiedItem } from "@/services/uploads/unify";

/** "1st", "2nd", "3rd", "11th". */
export function ordinal(value: number): string {
  const [tens, ones] = [value % 100, value % 10];
  if (tens >= 11 && tens <= 13) return `${value}th`;
  return `${value}${["th", "st", "nd", "rd"][ones] ?? "th"}`;
}

/** An estimate that was made a while ago, as it is now; none once even its longest guess has passed. */
export function etaNow(eta: readonly number[] | null | undefined, passedMs: number): [number, number] | null {
  const [low, high] = eta ?? [];
  if (low === undefined || high === undefined) return null;
  const passed = Math.max(0, passedMs) / 1000;
  return high - passed <= 0 ? null : [Math.max(0, low - passed), high - passed];
}

/** "about 1 to 5 m": the unit once, where both ends have it. */
function etaWords(eta: readonly number[] | null): string | null {
  return etaRange(eta)?.replace(/(\d+) (\w+) to (\d+) \2$/, "$1 to $3 $2") ?? null;
}

/** Of a recording that is under way. What the server said of the time that is left is counted on from when it said so. */
export function recordingMessage({ job, heardAt }: Pick<HeardRecording, "job" | "heardAt">, now: number): string {
  return job ? jobMessage(job, now - heardAt) : "";
}

/** Of a job that is queued or processed. `passedMs` is how long ago the server said so. */
export function jobMessage(job: ProcessingJob, passedMs = 0): string {
  const eta = etaWords(etaNow(job.eta_seconds, passedMs));
  const why = job.waiting_for;
  if (job.job_status === "queued") return queuedMessage(job, eta, why);
  if (job.job_status !== "processing") return "Finishing";
  const { progress } = job;
  const done =
    job.queue_type === "summary"
      ? "The summary is being written"
      : progress?.total
        ? `${timecode(progress.current, progress.total)} of ${timecode(progress.total)}`
        : "The audio is being read";
  if (eta) return `${done}, ${eta} left`;
  return why ? `${done}: ${why}` : done;
}

/** "Next in line", "3rd in line", "Over 1,000 before it". */
function placeOf(job: ProcessingJob): string | null {
  if (job.position === null) return null;
  if (job.position_is_more) return `Over ${count(job.position)} before it`;
  return job.position === 1 ? "Next in line" : `${ordinal(job.position)} in line`;
}

function queuedMessage(job: ProcessingJob, eta: string | null, why: string | null): string {
  const place = placeOf(job);
  if (place) return eta ? `${place}, ${eta} to go` : why ? `${place}: ${why}` : place;
  if (why) return capital(why);
  return job.queue_type === "summary" ? "The summary waits its turn" : "Waits its turn";
}

export function uploadMessage(upload: UploadRow, reachable: boolean): string {
  if (upload.status === "ready") return bytes(upload.size);
  if (upload.handingOver || upload.recordingId) return "All there, being handed over";
  const done = `${bytes(upload.sent)} of ${bytes(upload.size)}`;
  if (!reachable) return `${done}, waits for the network`;
  if (!upload.pace) return upload.sent ? done : `${bytes(upload.size)}, waits its turn`;
  const left = (upload.size - upload.sent) / upload.pace;
  return left < 2 ? done : `${done}, about ${duration(Math.ceil(left) * 1000)} left`;
}

/** What went wrong and what helps, as two sentences. */
export function problemWords(problem: Pick<UploadProblem, "text" | "remedy">): { text: string; remedy: string | null } {
  return { text: sentence(problem.text), remedy: problem.remedy ? sentence(problem.remedy) : null };
}

export interface ItemWords {
  message: string;
  remedy: string | null;
  bad: boolean;
}

export function wordsOf(item: UnifiedItem, facts: { reachable: boolean; now: number }): ItemWords {
  const plain = (message: string): ItemWords => ({ message, remedy: null, bad: false });
  const bad = (problem: Pick<UploadProblem, "text" | "remedy">): ItemWords => {
    const { text, remedy } = problemWords(problem);
    return { message: text, remedy, bad: true };
  };
  switch (item.status) {
    case "COMPLETED":
      return plain("Done");
    case "CANCELLED":
      return plain("Cancelled");
    case "FAILED":
      return bad({ text: item.recording?.error ?? "it failed", remedy: item.job?.error_remedy ?? null });
    case "upload_failed":
      return bad(item.upload?.problem ?? { text: "the upload failed", remedy: null });
    case "ready":
    case "uploading":
      return plain(item.upload ? uploadMessage(item.upload, facts.reachable) : "");
    default:
      return plain(item.recording ? recordingMessage(item.recording, facts.now) : "");
  }
}

/** How full the bar is: bytes while uploading, seconds of audio while transcribing; none where nothing can be said. */
export function progressOf(item: UnifiedItem): { current: number; total: number | null } | null {
  if (item.status === "uploading" && item.upload) return { current: item.upload.sent, total: item.upload.size };
  if (item.status === "PROCESSING") return item.job?.progress?.total ? item.job.progress : { current: 0, total: null };
  return item.status === "SUMMARIZING" && item.job?.job_status === "processing" ? { current: 0, total: null } : null;
}
