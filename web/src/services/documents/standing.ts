/** Where a run stands, in a sentence, and what to do if somebody has to. */
import type { DocumentRun } from "@/api/types";
import { count } from "@/format/numbers";
import { etaRange } from "@/format/time";
import { sentence } from "@/format/words";
import { ordinal } from "@/services/uploads/messages";

export interface Standing {
  what: string;
  /** How long it still takes, or why nobody can say. */
  time: string | null;
  needsSomebody: boolean;
}

export function standingOf(run: DocumentRun): Standing {
  if (run.waiting_for === "budget")
    return {
      what: "It waits for money: the spend limit has no room for the rest. It goes on by itself when there is.",
      time: null,
      needsSomebody: true,
    };
  return { what: whatOf(run), time: timeOf(run), needsSomebody: false };
}

function whatOf(run: DocumentRun): string {
  const [all, verb] = run.count === 1 ? ["The document", "is"] : [`${count(run.count)} documents`, "are"];
  switch (run.status) {
    case "PENDING":
      return run.position === null ? "It waits for its turn." : `It is ${ordinal(run.position)} in line.`;
    case "RUNNING":
      return run.count === null ? "The folder is being listed." : `${all} ${verb} being read.`;
    case "COMPLETED":
      if (run.count === 0) return "There was nothing to read.";
      return run.count === 1 ? "The document was read." : `All ${all} were read.`;
    case "PARTIAL":
      return sentence(run.warning ?? "some documents were not read");
    case "FAILED":
      return sentence(run.error ?? "none of its documents was read");
    default:
      return "It was cancelled. What had been read by then is there.";
  }
}

function timeOf(run: DocumentRun): string | null {
  if (run.status !== "PENDING" && run.status !== "RUNNING") return null;
  const left = run.eta && etaRange([run.eta.low, run.eta.high]);
  if (left) return `Done in ${left}.`;
  return run.eta_reason ? `How long it takes cannot be said yet: ${run.eta_reason}.` : null;
}

/** "12 of 40 read, 2 failed": for lists. */
export function countWords({ count: total, counts, status }: DocumentRun): string {
  if (total === null) return status === "PENDING" || status === "RUNNING" ? "not listed yet" : "";
  const parts = [`${count(counts.COMPLETED ?? 0)} of ${count(total)} read`];
  if (counts.FAILED) parts.push(`${count(counts.FAILED)} failed`);
  if (counts.CANCELLED) parts.push(`${count(counts.CANCELLED)} cancelled`);
  return parts.join(", ");
}
