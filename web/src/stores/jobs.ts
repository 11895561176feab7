/**
 * One reactive object per job id. Whoever shows a job holds it; the last to let go lets it be forgotten, so that a tab
 * that stays open for days remembers only what is on screen. Rows are ordered by `seq`: an older row never wins.
 */
import { reactive } from "vue";
import type { Job } from "@/api/types";

interface Held {
  job: Job;
  holders: number;
}

const held = new Map<string, Held>();

/** The newest rows that were pushed: an answer that was read before them must not bring back the past. */
const recent = new Map<string, Job>();
const MOST_RECENT = 1000;

/** The one object for this job, brought up to date with `row` if that is newer. */
export function holdJob(answer: Job): Job {
  const pushed = recent.get(answer.id);
  const row = pushed && pushed.seq > answer.seq ? pushed : answer;
  const known = held.get(row.id);
  if (known) {
    known.holders += 1;
    refresh(known.job, row);
    return known.job;
  }
  const job = reactive({ ...row }) as Job;
  held.set(row.id, { job, holders: 1 });
  return job;
}

export function releaseJob(id: string): void {
  const known = held.get(id);
  if (!known) return;
  known.holders -= 1;
  if (known.holders <= 0) held.delete(id);
}

export function releaseJobs(jobs: Iterable<Job>): void {
  for (const job of jobs) releaseJob(job.id);
}

/** Takes a row that came from anywhere. Nothing happens when nobody shows the job or the row is old. */
export function applyJob(row: Job): Job | null {
  const known = held.get(row.id);
  if (!known) return null;
  refresh(known.job, row);
  return known.job;
}

/** Takes a row that was pushed, and remembers it for answers that are still on their way. */
export function pushJob(row: Job): void {
  recent.delete(row.id);
  recent.set(row.id, row);
  const oldest = recent.keys().next().value;
  if (recent.size > MOST_RECENT && oldest !== undefined) recent.delete(oldest);
  applyJob(row);
}

export function forgetPushed(): void {
  recent.clear();
}

export function heldCount(): number {
  return held.size;
}

function refresh(job: Job, row: Job): void {
  if (row.seq < job.seq) return;
  for (const key of Object.keys(job) as (keyof Job)[]) {
    if (key in row && !same(job[key], row[key])) Object.assign(job, { [key]: row[key] });
  }
}

/** Small nested values (progress, error, children) are compared by content, so that an equal row repaints nothing. */
function same(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || !left || !right) return false;
  return JSON.stringify(left) === JSON.stringify(right);
}
