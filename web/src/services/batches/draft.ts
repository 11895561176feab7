/** A batch as somebody is writing it: what is typed, what is wrong with it, and what is sent. */
import type { EstimateRequest, NewCompletion } from "@/api/types";

type Request = Record<string, unknown>;

export interface Draft {
  title: string;
  provider: string;
  /** Names, with commas or line breaks between them. */
  models: string;
  /** Where the requests are: typed here, or in a file that was uploaded. */
  from: "file" | "text";
  text: string;
  assetId: string | null;
  window: string;
  strict: boolean;
}

export interface Requests {
  requests: Request[];
  /** Of lines that cannot be sent: which, and why. */
  wrong: { line: number; why: string }[];
}

/** The most the server takes in one request; more is for a file. */
export const MOST_TYPED = 50_000;
export const LOCAL = "LOCAL";

export function newDraft(): Draft {
  const nowhere = { title: "", provider: LOCAL, models: "", text: "", assetId: null, window: "", strict: false };
  return { ...nowhere, from: "file" };
}

export function modelsIn(text: string): string[] {
  return [...new Set(text.split(/[,\n]/).map((name) => name.trim()))].filter(Boolean);
}

/** A request on each line. What else is wrong with one is the server's to say. */
export function requestsIn(text: string): Requests {
  const found: Requests = { requests: [], wrong: [] };
  let line = 0;
  for (const written of text.split("\n")) {
    if (!written.trim()) continue;
    line += 1;
    try {
      const value: unknown = JSON.parse(written);
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("it is no JSON object");
      found.requests.push(value as Request);
    } catch (caught) {
      found.wrong.push({ line, why: caught instanceof Error ? caught.message : String(caught) });
    }
  }
  return found;
}

/** What is missing before it can be sent, in words; null: nothing. */
export function missingIn(draft: Draft): string | null {
  if (draft.from === "file" && draft.assetId === null) return "Choose a file with the requests.";
  if (draft.from === "text") {
    const { requests, wrong } = requestsIn(draft.text);
    if (wrong[0]) return `Line ${wrong[0].line} is no request: ${wrong[0].why}`;
    if (!requests.length) return "Write at least one request.";
    if (requests.length > MOST_TYPED) return "So many requests are better sent as a file.";
  }
  if (draft.provider !== LOCAL && !modelsIn(draft.models).length) return "Name the models that are to be asked.";
  return null;
}

function inputs(draft: Draft): Pick<NewCompletion, "requests" | "input" | "dataset_ids"> {
  return draft.from === "file"
    ? { input: draft.assetId, dataset_ids: [] }
    : { requests: requestsIn(draft.text).requests, dataset_ids: [] };
}

export function completionOf(draft: Draft): NewCompletion {
  return {
    ...inputs(draft),
    provider: draft.provider,
    models: modelsIn(draft.models),
    title: draft.title.trim() || null,
    window: draft.provider === LOCAL ? null : draft.window.trim() || null,
    strict_inputs: draft.strict,
  };
}

/** What to ask for an estimate; null while there is nothing to estimate. */
export function estimateOf(draft: Draft): EstimateRequest | null {
  const models = modelsIn(draft.models);
  return !models.length || missingIn(draft) !== null ? null : { ...inputs(draft), models };
}
