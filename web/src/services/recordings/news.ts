/**
 * What the push stream says about recordings. Whenever a job of a recording changed, the server pushes the recording as it
 * lists it; the row is shown as it is, and nothing is concluded from it but whether the rest is worth asking for: when
 * more than progress changed, places in line have, and only the server knows which.
 */
import type { Recording } from "@/api/types";
import { registerKind, type Pushed } from "@/stores/live";

const recordingsIn = registerKind<Recording>("recording");

/** A row and when the server said it, for estimates that count on. */
export type HeardRecording = Recording & { heardAt: number };

export interface RecordingNews {
  id: string;
  /** null: it is gone. */
  row: HeardRecording | null;
  /** Whether more than its progress changed. */
  moved: boolean;
}

export function heard<Row extends Recording>(row: Row): Row & { heardAt: number } {
  return { ...row, heardAt: Date.now() };
}

/** Reads batch after batch of what was pushed, and remembers of each recording what it was last told. */
export function createNewsReader(): (pushed: Pushed) => RecordingNews[] {
  const last = new Map<string, string>();

  function hasMoved(id: string, now: string): boolean {
    const moved = last.get(id) !== now;
    last.delete(id);
    last.set(id, now);
    const oldest = last.keys().next().value;
    if (last.size > MOST_REMEMBERED && oldest !== undefined) last.delete(oldest);
    return moved;
  }

  return (pushed) =>
    recordingsIn(pushed).map(({ id, row }) => ({ id, row: row && heard(row), moved: hasMoved(id, lasting(row)) }));
}

const MOST_REMEMBERED = 500;

/** The row without what moves by itself. */
function lasting(row: Recording | null): string {
  return JSON.stringify({ ...row, job: row?.job && [row.job.id, row.job.job_status] });
}

/** Estimates grow old, and nobody pushes that a queue was paused or that a worker has gone. */
export const ESTIMATES_MS = 10_000;

/** Within how many milliseconds the rest is worth asking for; null: all was told. */
export function askWithin(news: readonly RecordingNews[], movedMs: number): number | null {
  return news.some(({ moved }) => moved) ? movedMs : null;
}

/** The rows with what was told of them; those that are gone are left out. */
export function withNews<Row extends HeardRecording>(rows: Row[], news: readonly RecordingNews[]): Row[] {
  const told = new Map(news.map(({ id, row }) => [id, row]));
  if (!rows.some(({ id }) => told.has(id))) return rows;
  return rows
    .filter(({ id }) => told.get(id) !== null)
    .map((row) => (told.has(row.id) ? { ...row, ...told.get(row.id) } : row));
}
