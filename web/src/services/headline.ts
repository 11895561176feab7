/** The state of things in one sentence, as a person would say it. */
import type { Counts } from "@/api/types";
import { count, plural } from "@/format/numbers";

export function headline(counts: Counts | null, workersAlive: number | null): string {
  if (!counts) return "Looking…";
  const ready = counts.queued - counts.scheduled;
  if (!counts.running && !counts.queued && !counts.waiting) return quiet(counts);
  if (workersAlive === 0) return `${plural(counts.queued, "job")} queued, and no worker is running`;
  const parts: string[] = [];
  if (counts.running) parts.push(`${plural(counts.running, "job")} under way`);
  if (ready) parts.push(`${named(ready, parts)} in the queue`);
  if (counts.waiting) parts.push(`${named(counts.waiting, parts)} waiting for something`);
  if (counts.scheduled) parts.push(`${named(counts.scheduled, parts)} scheduled for later`);
  return counts.capped ? `At least ${join(parts)}` : join(parts);
}

/** "12 jobs" the first time, "12" after that. */
function named(value: number, before: readonly string[]): string {
  return before.length ? count(value) : plural(value, "job");
}

function quiet(counts: Counts): string {
  const ended = counts.succeeded_24h + counts.partial_24h + counts.failed_24h;
  if (!ended) return "All is quiet";
  return counts.failed_24h ? "All is quiet now" : "All is quiet, and nothing failed today";
}

function join(parts: string[]): string {
  if (parts.length < 3) return parts.join(" and ");
  return `${parts.slice(0, -1).join(", ")} and ${parts.at(-1) ?? ""}`;
}
