/** A group of failures in words: what happened, for example, and what to do about it. */
import type { InboxGroup, Job, JobError } from "@/api/types";
import { sentence } from "@/format/words";
import { listInboxJobs } from "@/services/inbox";

/** What a kind of error asks for, where the error itself does not say. */
export const MEANING: Readonly<Record<string, string>> = {
  transient: "Likely to go away by itself. It was retried with growing pauses until its attempts were used up.",
  rate_limited: "The other side asked to slow down.",
  schema_invalid: "The same input fails the same way: change it, then retry.",
  fatal: "Retrying alone does not help; somebody has to look.",
};

export function remedyOf(kind: string, error: Pick<JobError, "remedy"> | null | undefined): string | null {
  return error?.remedy ? sentence(error.remedy) : (MEANING[kind] ?? null);
}

/** What a product's jobs are given only names its things; what is to be otherwise is said on their pages. */
export function isEditable(operation: string): boolean {
  return !operation.startsWith("documents.");
}

/** The same payload fails the same way again: it has to be changed first. */
export function needsEdit({ kind, operation }: { kind: string; operation: string }): boolean {
  return kind === "schema_invalid" && isEditable(operation);
}

/** Groups have the variable parts of their messages taken out; a single job, or a bare "KeyError: …", is told in full. */
export function causeTitle(message: string, jobs: number, example: string | null | undefined): string {
  if (!example) return message || "no message";
  if (jobs === 1 || !message) return example;
  const told = message.replaceAll("…", "").replace(/^[\w.]*(Error|Exception)\b/, "");
  return /\p{L}{3}/u.test(told) ? message : `${message} For example: ${example}`;
}

const NEWEST = 200;
const MOST_ASKED = 12;

/** One job of each group, by its id. Most are among the newest failures, which are one question; the rest are asked for singly. */
export async function examplesOf(groups: readonly InboxGroup[], known: ReadonlyMap<string, Job>): Promise<Map<string, Job>> {
  const wanted = groups.filter((group) => !known.has(group.example));
  const found = new Map(groups.flatMap((group) => known.get(group.example) ?? []).map((job) => [job.id, job]));
  if (!wanted.length) return found;
  const page = await listInboxJobs({}, null, NEWEST);
  for (const job of page.items) found.set(job.id, job);
  const missing = wanted.filter((group) => !found.has(group.example)).slice(0, MOST_ASKED);
  const asked = await Promise.all(
    missing.map(({ operation, kind, message }) => listInboxJobs({ operation, kind, message }, null, 1)),
  );
  for (const [index, group] of missing.entries()) {
    const job = asked[index]?.items[0];
    if (job) found.set(group.example, job);
  }
  return found;
}
