/**
 * The caller's jobs on recordings: asked for once, then kept current by what is pushed. A row that was pushed after a
 * question was asked is newer than its answer, whichever comes first.
 */
import type { Job, ProcessingJob } from "@/api/types";
import { isRecordingJob, patched, pushedJob } from "@/services/uploads/pushed";

interface Heard {
  row: Job | null;
  round: number;
}

export class JobBoard {
  private found = new Map<string, ProcessingJob>();
  private heard = new Map<string, Heard>();
  private round = 0;

  get jobs(): ProcessingJob[] {
    return [...this.found.values()];
  }

  /** To be called when the question goes out; what it answers goes with the answer. */
  ask(): number {
    this.round += 1;
    return this.round;
  }

  /** Takes the answer to a question; what was pushed since it was asked stays. */
  answer(round: number, jobs: readonly ProcessingJob[]): void {
    if (round !== this.round) return;
    for (const [id, { round: at }] of this.heard) if (at < round) this.heard.delete(id);
    this.found = new Map(jobs.map((job) => [job.id, job]));
    for (const [id, { row }] of this.heard) {
      if (row) this.take(row);
      else this.found.delete(id);
    }
  }

  /** Takes pushed rows. True if something else than progress changed, so that places in line are worth asking for. */
  push(rows: readonly Job[]): boolean {
    let stirred = false;
    for (const row of rows) {
      if (!isRecordingJob(row)) continue;
      const before = this.heard.get(row.id)?.row;
      if (before && before.seq > row.seq) continue;
      this.heard.set(row.id, { row, round: this.round });
      const was = this.found.get(row.id)?.job_status;
      this.take(row);
      stirred ||= was === undefined || this.found.get(row.id)?.job_status !== was;
    }
    return stirred;
  }

  /** True if one of them was known. */
  drop(ids: readonly string[]): boolean {
    let any = false;
    for (const id of ids) {
      any = this.found.delete(id) || any;
      this.heard.set(id, { row: null, round: this.round });
    }
    return any;
  }

  private take(row: Job): void {
    const job = this.found.get(row.id);
    const sibling = job ?? this.siblingOf(row);
    if (job) this.found.set(row.id, patched(job, row));
    else if (sibling) this.found.set(row.id, pushedJob(row, sibling));
  }

  private siblingOf(row: Job): ProcessingJob | undefined {
    if (!row.key) return undefined;
    return this.jobs.find((job) => job.recording_id === row.key);
  }
}
