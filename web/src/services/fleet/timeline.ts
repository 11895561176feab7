/** Tasks in flight on one time axis: each time that a task was sent is a wait for a worker, and then the work. */
import type { FleetTaskDetail } from "@/api/types";
import { toMillis } from "@/format/time";

export interface FleetBar {
  kind: "waits" | "works" | "failed";
  from: number;
  to: number;
}

export interface FleetRow {
  task: FleetTaskDetail;
  bars: FleetBar[];
  /** When its newest worker was heard of last. */
  heardAt: string | null;
}

export interface FleetAxis {
  from: number;
  to: number;
}

export function rowOf(task: FleetTaskDetail, now: number): FleetRow {
  const attempts = [...task.attempts].sort((left, right) => left.attempt - right.attempt);
  const bars = attempts.flatMap((attempt): FleetBar[] => {
    const sent = toMillis(attempt.sent_at ?? attempt.made_at) ?? now;
    const claimed = toMillis(attempt.claimed_at);
    const end = toMillis(attempt.ended_at) ?? now;
    const good = attempt.outcome === null || attempt.outcome === "completed";
    if (claimed === null) return [{ kind: "waits", from: sent, to: Math.max(sent, end) }];
    return [
      { kind: "waits", from: sent, to: Math.max(sent, claimed) },
      { kind: good ? "works" : "failed", from: claimed, to: Math.max(claimed, end) },
    ];
  });
  return { task, bars, heardAt: attempts.at(-1)?.heard_at ?? null };
}

/** From the first that was sent until now, and a minute at least. */
export function axisOf(rows: readonly FleetRow[], now: number): FleetAxis {
  const first = Math.min(now - 60_000, ...rows.flatMap((row) => row.bars.map((bar) => bar.from)));
  return { from: first, to: now };
}

export function placeOf(bar: FleetBar, axis: FleetAxis): { left: number; width: number } {
  const span = axis.to - axis.from;
  const at = (time: number): number => Math.min(100, Math.max(0, ((time - axis.from) / span) * 100));
  return { left: at(bar.from), width: Math.max(0.4, at(bar.to) - at(bar.from)) };
}
