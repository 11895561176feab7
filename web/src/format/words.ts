/** The engine's words in the reader's words. One place, so that the same thing is called the same everywhere. */
import type { JobState } from "@/api/types";

export const STATES: readonly JobState[] = ["queued", "running", "waiting", "succeeded", "partial", "failed", "cancelled"];
export const LIVE: ReadonlySet<JobState> = new Set<JobState>(["queued", "running", "waiting"]);
export const REQUEUEABLE: ReadonlySet<JobState> = new Set<JobState>(["failed", "partial", "cancelled"]);

export const STATE_WORD: Record<JobState, string> = {
  queued: "Queued",
  running: "Running",
  waiting: "Waiting",
  succeeded: "Succeeded",
  partial: "Partial",
  failed: "Failed",
  cancelled: "Cancelled",
};

export const PRIORITY_WORD: Record<number, string> = { 0: "Urgent", 1: "Normal", 2: "Low", 3: "Background" };

const REASONS: Record<string, string> = {
  retry: "backing off after a failure",
  rate_limited: "the other side asked to slow down",
  retry_later: "asked to come back later",
  no_handler: "no worker knows this operation",
  no_worker: "no live worker serves this queue",
  scheduled: "scheduled for later",
  children: "for its children",
  signal: "for a signal",
  sleep: "for a timer",
  capped: "its lane is at its cap",
  queue_capped: "its queue is at its cap",
  paused: "its queue is paused",
  ending: "its old handler is still stopping",
};

/** A short gloss on why a job stands still, or null when the state says it all. */
export function reasonWord(reason: string | null | undefined): string | null {
  if (!reason || STATES.includes(reason as JobState)) return null;
  return REASONS[reason] ?? reason.replaceAll("_", " ");
}

const KINDS: Record<string, string> = {
  rate_limited: "Rate limited",
  transient: "Transient",
  schema_invalid: "Invalid data",
  fatal: "Fatal",
  lease_lost: "Worker lost",
};

export function kindWord(kind: string | null | undefined): string {
  if (!kind) return "Error";
  return KINDS[kind] ?? capital(kind.replaceAll("_", " "));
}

export function capital(text: string): string {
  return text ? text[0]?.toUpperCase() + text.slice(1) : text;
}

/** A whole sentence out of an explanation, which the engine writes in lower case without a full stop. */
export function sentence(text: string): string {
  const whole = capital(text.trim());
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

/** The head of a UUIDv7 is time and equal for neighbours; its tail tells jobs apart. */
export function shortId(id: string): string {
  return id.length > 12 ? id.slice(-8) : id;
}
