/** How batches and their orders are shown: the server's names in the reader's words. */
import type { Batch, BatchStatus, ProviderJob } from "@/api/types";
import type { MarkWords } from "@/components/ui/marks";

export const BATCH_STATUSES: readonly BatchStatus[] = [
  "PENDING",
  "IN_PROGRESS",
  "COMPLETED",
  "PARTIAL_COMPLETE",
  "FAILED",
  "CANCELLED",
];

export const BATCH_MARK: Readonly<Record<BatchStatus, MarkWords>> = {
  PENDING: { label: "Pending", icon: "clock", tone: "gray" },
  IN_PROGRESS: { label: "In progress", icon: "batches", tone: "blue" },
  COMPLETED: { label: "Completed", icon: "done", tone: "green" },
  PARTIAL_COMPLETE: { label: "Partly completed", icon: "half", tone: "yellow" },
  FAILED: { label: "Failed", icon: "alert", tone: "red" },
  CANCELLED: { label: "Cancelled", icon: "stop", tone: "gray" },
};

export const ORDER_MARK: Readonly<Record<ProviderJob["state"], MarkWords>> = {
  intended: { label: "To be sent", icon: "clock", tone: "gray" },
  calling: { label: "Being sent", icon: "upload", tone: "blue" },
  submitted: { label: "Submitted", icon: "batches", tone: "blue" },
  unknown: { label: "Unknown", icon: "warning", tone: "yellow" },
  completed: { label: "Completed", icon: "done", tone: "green" },
  partial: { label: "Partly completed", icon: "half", tone: "yellow" },
  failed: { label: "Failed", icon: "alert", tone: "red" },
  cancelled: { label: "Cancelled", icon: "stop", tone: "gray" },
};

interface TaskWords {
  /** One of what it was given. */
  thing: string;
  answered: string;
  /** What could not be done with an invalid one. */
  asked: string;
}

const TASK_WORDS: Readonly<Record<Batch["task_type"], TaskWords>> = {
  completion: { thing: "request", answered: "answered", asked: "asked" },
  transcription: { thing: "input", answered: "transcribed", asked: "heard" },
};

export function taskWords({ task_type: task }: Pick<Batch, "task_type">): TaskWords {
  return TASK_WORDS[task];
}

/** Who does it, and by which models if they were named. */
export function whoDoesIt({ provider, models }: Pick<Batch, "provider" | "models">): string {
  return [provider, models.join(", ")].filter(Boolean).join(" · ");
}

export function isLive(status: BatchStatus): boolean {
  return status === "PENDING" || status === "IN_PROGRESS";
}

/** Whether somebody has to do something before it goes on. */
export function needsSomebody(batch: Pick<Batch, "waiting_for">): boolean {
  return batch.waiting_for === "budget" || batch.waiting_for === "submit_unknown";
}

const SHORT: Readonly<Record<string, string>> = {
  provider: "waiting for the provider",
  provider_call: "finding out about a call without an answer",
  budget: "waiting: over the spend limit",
  submit_unknown: "waiting: an order's answer was lost",
  children: "being answered here",
  requests: "gathering requests",
};

/** What it waits for, in a few words; null while it does not wait. */
export function waitingWord({ waiting_for: reason }: Pick<Batch, "waiting_for">): string | null {
  return reason === null ? null : (SHORT[reason] ?? `waiting: ${reason.replaceAll("_", " ")}`);
}
