/**
 * A job's life as bars on a time axis: one row per attempt, then its steps, then its children. Pure: events, steps and
 * children in, rows out.
 */
import type { Job, JobEvent, JobState, Step } from "@/api/types";
import { toMillis } from "@/format/time";

export type BarKind = "queued" | "running" | "waiting" | "step" | "wait" | "good" | "partial" | "bad" | "cancelled";

export interface Bar {
  kind: BarKind;
  from: number;
  /** Null while it goes on. */
  to: number | null;
  title: string;
}

export interface Mark {
  at: number;
  kind: "bad" | "warning" | "good";
  title: string;
}

export interface TimelineRow {
  key: string;
  group: "attempt" | "step" | "child";
  label: string;
  note: string | null;
  jobId: string | null;
  state: JobState | null;
  bars: Bar[];
  marks: Mark[];
}

const STATE_AFTER: Record<string, JobState> = {
  "job.created": "queued",
  "job.started": "running",
  "job.succeeded": "succeeded",
  "job.partial": "partial",
  "job.failed": "failed",
  "job.cancelled": "cancelled",
  "job.waiting": "waiting",
  "job.resumed": "queued",
  "job.retry_scheduled": "queued",
  "job.retry_later": "queued",
  "job.released": "queued",
  "job.rescued": "queued",
  "job.requeued": "queued",
  "job.reopened": "waiting",
};

/** Events after which the next entry counts as a new attempt. */
const NEW_ATTEMPT = new Set(["job.retry_scheduled", "job.rescued", "job.requeued"]);
const ENDINGS: Record<string, Mark["kind"]> = { "job.failed": "bad", "job.partial": "warning", "job.succeeded": "good" };

export function attemptRows(events: readonly JobEvent[]): TimelineRow[] {
  const rows: TimelineRow[] = [];
  let row: TimelineRow | null = null;
  for (const event of events) {
    const state = STATE_AFTER[event.name];
    const at = toMillis(event.ts);
    if (!state || at === null) continue;
    if (row) endBar(row, at);
    if (!row || NEW_ATTEMPT.has(event.name)) {
      if (row) row.marks.push(failureMark(event, at));
      row = attemptRow(rows.length + 1, event);
      rows.push(row);
    }
    beginBar(row, state, at);
    const ending = ENDINGS[event.name];
    if (ending) row.marks.push({ at, kind: ending, title: event.message ?? state });
  }
  number(rows);
  return rows;
}

/** What was cancelled or requeued before it began was no attempt; what waits to be the next one is. */
function number(rows: readonly TimelineRow[]): void {
  let begun = 0;
  for (const [index, row] of rows.entries()) {
    const idle = row.bars.every((bar) => bar.kind === "queued");
    if (idle && (index === 0 || index < rows.length - 1)) row.label = "Not started";
    else row.label = `Attempt ${(begun += 1)}`;
  }
}

function attemptRow(number: number, event: JobEvent): TimelineRow {
  const note = number === 1 ? null : (event.message ?? event.name.replace("job.", "").replaceAll("_", " "));
  return {
    key: `attempt-${number}`,
    group: "attempt",
    label: `Attempt ${number}`,
    note,
    jobId: null,
    state: null,
    bars: [],
    marks: [],
  };
}

function failureMark(event: JobEvent, at: number): Mark {
  return { at, kind: event.name === "job.requeued" ? "warning" : "bad", title: event.message ?? event.name };
}

function endBar(row: TimelineRow, at: number): void {
  const open = row.bars.at(-1);
  if (open?.to === null) open.to = at;
}

function beginBar(row: TimelineRow, state: JobState, at: number): void {
  if (state === "queued" || state === "running" || state === "waiting") {
    row.bars.push({ kind: state, from: at, to: null, title: state });
  }
}

/** Steps in the order they ran. A wait is recorded when it begins, so its end is the next time the job was woken. */
export function stepRows(steps: readonly Step[], events: readonly JobEvent[]): TimelineRow[] {
  const woken = events.filter((event) => event.name === "job.resumed").map((event) => toMillis(event.ts) ?? 0);
  return steps.map((step) => {
    const from = toMillis(step.started_at) ?? toMillis(step.created_at) ?? 0;
    const isStep = step.kind === "step";
    const to = isStep ? from + (step.duration_ms ?? 0) : waitEnd(step, from, woken);
    return {
      key: `step-${step.name}`,
      group: "step",
      label: step.name,
      note: stepNote(step),
      jobId: null,
      state: null,
      bars: [{ kind: isStep ? "step" : "wait", from, to, title: step.name }],
      marks: [],
    };
  });
}

function waitEnd(step: Step, from: number, woken: readonly number[]): number | null {
  if (!step.done) return null;
  return woken.find((at) => at >= from) ?? from;
}

function stepNote(step: Step): string | null {
  const parts = [];
  if (step.kind !== "step") parts.push(step.kind);
  if (step.model) parts.push(step.model);
  if (step.retries) parts.push(`${step.retries} ${step.retries === 1 ? "retry" : "retries"}`);
  return parts.join(" · ") || null;
}

const CHILD_BAR: Record<JobState, BarKind> = {
  queued: "queued",
  running: "running",
  waiting: "waiting",
  succeeded: "good",
  partial: "partial",
  failed: "bad",
  cancelled: "cancelled",
};

/** In the order they began, so that the bars run down the page like stairs; those that have not begun come last. */
export function childRows(children: readonly Job[]): TimelineRow[] {
  const begun = (job: Job): number => toMillis(job.started_at) ?? Number.MAX_SAFE_INTEGER;
  return [...children].sort((left, right) => begun(left) - begun(right) || left.id.localeCompare(right.id)).map(childRow);
}

export function childRow(job: Job): TimelineRow {
  const created = toMillis(job.created_at) ?? 0;
  const started = toMillis(job.started_at);
  const finished = toMillis(job.finished_at);
  const bars: Bar[] = [{ kind: "queued", from: created, to: started ?? finished, title: "queued" }];
  if (started !== null) bars.push({ kind: CHILD_BAR[job.state], from: started, to: finished, title: job.state });
  return { key: job.id, group: "child", label: job.operation, note: null, jobId: job.id, state: job.state, bars, marks: [] };
}

export interface Axis {
  from: number;
  to: number;
  ticks: number[];
  /** How much of the job's life lies before the axis begins. */
  skipped: number;
}

const SKIP_SHARE = 0.6;

/** The axis begins at the first start when the wait before it would squeeze everything else into a corner. */
export function axisFor(
  job: Pick<Job, "created_at" | "started_at" | "finished_at">,
  now: number,
  rows: readonly TimelineRow[],
): Axis {
  const created = toMillis(job.created_at) ?? now;
  const latest = toMillis(job.finished_at) ?? Math.max(now, created + 1000);
  const ends = rows.flatMap((row) => row.bars.map((bar) => bar.to ?? 0));
  const to = Math.max(latest, ...ends.slice(0, 500), created + 1);
  const firstRun = Math.min(
    to,
    ...rows.flatMap((row) => row.bars.filter((bar) => bar.kind === "running").map((bar) => bar.from)),
  );
  const wait = firstRun - created;
  const skip = firstRun < to && wait > SKIP_SHARE * (to - created) && to - firstRun > 1;
  const from = skip ? firstRun - (to - firstRun) * 0.04 : created;
  return { from, to, ticks: ticks(from, to), skipped: skip ? from - created : 0 };
}

const NICE = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5,
  432e5, 864e5,
];

/** Offsets from the start at round distances, four to eight of them. */
export function ticks(from: number, to: number): number[] {
  const span = Math.max(1, to - from);
  const step = NICE.find((nice) => span / nice <= 7) ?? Math.ceil(span / 7 / 864e5) * 864e5;
  const found = [];
  for (let at = 0; at <= span; at += step) found.push(from + at);
  return found;
}
