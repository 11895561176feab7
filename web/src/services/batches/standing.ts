/** Where a batch stands, in a sentence, and what to do if somebody has to. */
import type { Batch, Explanation } from "@/api/types";
import { sentence } from "@/format/words";
import { taskWords } from "@/services/batches/status";

export interface Standing {
  what: string;
  remedy: string | null;
}

const PLAIN: Readonly<Record<string, (batch: Batch) => string>> = {
  provider: ({ provider }) => `It is at ${provider}, which is asked again and again until it is done.`,
  provider_call: ({ provider }) =>
    `A call to ${provider} got no answer. As soon as it cannot be on its way any more, ${provider} is asked what became of it.`,
  children: ({ task_type }) =>
    task_type === "transcription"
      ? "This installation's own workers are listening, file by file."
      : "This installation's own workers are asking, request by request.",
};

/** `explanation` is what the engine says about the batch's job. */
export function standingWords(batch: Batch, explanation: Explanation | null): Standing {
  if (batch.waiting_for === "submit_unknown")
    return {
      what: `${batch.provider} cannot say whether it has an order of this batch: the answer to it was lost.`,
      remedy:
        "Nothing is sent again by itself, because that might be paid for twice. Look for the order there, then adopt it or send it again below.",
    };
  if (batch.waiting_for === "budget") return money(explanation);
  if (batch.waiting_for !== null) {
    const told = PLAIN[batch.waiting_for]?.(batch);
    return { what: told ?? (explanation ? sentence(explanation.sentence) : ""), remedy: null };
  }
  return { what: ended(batch) ?? (explanation ? sentence(explanation.sentence) : ""), remedy: null };
}

function money(explanation: Explanation | null): Standing {
  const known = explanation?.reason === "budget" || explanation?.sentence.includes("money");
  return {
    what: known && explanation ? sentence(explanation.sentence) : "It waits for money: the spend limit has no room for it.",
    remedy: sentence((known && explanation?.remedy) || "raise the limit, and it goes on by itself"),
  };
}

function ended(batch: Batch): string | null {
  const { status, warning } = batch;
  const { thing, answered } = taskWords(batch);
  if (status === "COMPLETED" || status === "PARTIAL_COMPLETE")
    return warning ? sentence(warning) : `Every ${thing} was ${answered}.`;
  return status === "CANCELLED" ? "It was cancelled before it was done." : null;
}
