/** How runs, their items and steps are shown: the server's names in the reader's words. */
import type { DocumentItem, DocumentRun, ItemStatus, RunStatus } from "@/api/types";
import type { MarkWords } from "@/components/ui/marks";
import { count } from "@/format/numbers";
import { capital, reasonWord } from "@/format/words";

export const ITEM_STATUSES: readonly ItemStatus[] = ["PENDING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED"];
export const RUN_STATUSES: readonly RunStatus[] = ["PENDING", "RUNNING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED"];

export const RUN_MARK: Readonly<Record<RunStatus, MarkWords>> = {
  PENDING: { label: "Pending", icon: "clock", tone: "gray" },
  RUNNING: { label: "Reading", icon: "documents", tone: "blue" },
  COMPLETED: { label: "Completed", icon: "done", tone: "green" },
  PARTIAL: { label: "Partly completed", icon: "half", tone: "yellow" },
  FAILED: { label: "Failed", icon: "alert", tone: "red" },
  CANCELLED: { label: "Cancelled", icon: "stop", tone: "gray" },
};

export const ITEM_MARK: Readonly<Record<ItemStatus, MarkWords>> = {
  PENDING: RUN_MARK.PENDING,
  RUNNING: RUN_MARK.RUNNING,
  COMPLETED: { label: "Read", icon: "done", tone: "green" },
  FAILED: RUN_MARK.FAILED,
  CANCELLED: RUN_MARK.CANCELLED,
};

const KINDS: Readonly<Record<DocumentRun["kind"], string>> = {
  upload: "Files",
  url: "Addresses",
  bucket: "Bucket",
  reingest: "Read again",
};

export function kindWords(kind: DocumentRun["kind"]): string {
  return KINDS[kind];
}

export function isLive(status: RunStatus | ItemStatus): boolean {
  return status === "PENDING" || status === "RUNNING";
}

/** Whether an item can be tried again. */
export function isRetryable({ status }: Pick<DocumentItem, "status">): boolean {
  return status === "FAILED" || status === "CANCELLED";
}

const STEPS: Readonly<Record<string, string>> = {
  ENQUEUED: "Not begun",
  FETCHED: "Fetched",
  CONTENT_EXTRACTED: "Text extracted",
  CHUNKED: "Cut into passages",
  EMBEDDED: "Embedded",
  ENTITY_EXTRACTED: "Names found",
  PERSISTED: "Stored",
  INDEXED: "Indexed",
  DONE: "Done",
  FAILED: "Failed",
};

/** A step that somebody has added is called as they did. */
export function stepWords(step: string): string {
  return STEPS[step] ?? capital(step.toLowerCase().replaceAll("_", " "));
}

const DOING: Readonly<Record<string, string>> = {
  FETCHED: "while fetching it",
  CONTENT_EXTRACTED: "while reading its text",
  CHUNKED: "while cutting it into passages",
  EMBEDDED: "while embedding it",
  ENTITY_EXTRACTED: "while looking for names",
  PERSISTED: "while storing it",
  INDEXED: "while indexing it",
};

/** Where an item is, in a few words: which step is behind it, or at which it failed. */
export function placeWords({ status, step, error }: Pick<DocumentItem, "status" | "step" | "error">): string {
  if (status === "FAILED") return error?.step ? (DOING[error.step] ?? `at the step “${stepWords(error.step)}”`) : "";
  if (status === "COMPLETED") return "";
  return step === "ENQUEUED" ? "" : stepWords(step);
}

const WAITING: Readonly<Record<string, string>> = {
  budget: "waiting: over the spend limit",
  retry: "waiting before the next try",
};

/** What it waits for; null while it does not wait. */
export function waitingWords({ waiting_for: reason }: Pick<DocumentItem, "waiting_for">): string | null {
  if (reason === null) return null;
  const known = WAITING[reason] ?? reasonWord(reason);
  return known === null ? null : known.startsWith("waiting") ? known : `waiting: ${known}`;
}

/** How many items have come to their end, one way or the other. */
export function endedOf({ counts }: Pick<DocumentRun, "counts">): number {
  return (counts.COMPLETED ?? 0) + (counts.FAILED ?? 0) + (counts.CANCELLED ?? 0);
}

/** What can be retried of a run: "what failed", "3 that were cancelled". */
export function retryWords(run: Pick<DocumentRun, "counts">): string {
  const many = failedOf(run);
  const word = run.counts.FAILED || !many ? "failed" : many === 1 ? "was cancelled" : "were cancelled";
  return many < 2 ? `what ${word}` : `${count(many)} that ${word}`;
}

export function failedOf({ counts }: Pick<DocumentRun, "counts">): number {
  return (counts.FAILED ?? 0) + (counts.CANCELLED ?? 0);
}
