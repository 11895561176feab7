/** Why an upload stopped, told from what the server answered, or from its silence. */
import type { Upload } from "@/api/types";
import type { ProblemDocument } from "@/services/problem";
import type { UploadProblem } from "@/services/uploads/row";

const AWAY: UploadProblem = {
  kind: "network",
  text: "The server cannot be reached",
  remedy: "It goes on by itself, where it was, as soon as the server is back.",
};

const OUT: UploadProblem = {
  kind: "login",
  text: "You are no longer logged in",
  remedy: "The file is kept in this browser. Log in, and it goes on where it was.",
};

/** `status` is null if nothing was answered at all. */
export function problemOf(status: number | null, body: string): UploadProblem {
  if (status === null || status === 0 || status >= 500 || status === 429) return AWAY;
  if (status === 401) return OUT;
  const told = parsed(body);
  return {
    kind: isUnfit(status, told) ? "unfit" : "refused",
    text: told.detail || told.title || `The server answered ${status}`,
    remedy: told.remedy ?? null,
  };
}

/** Why nothing becomes of a file that is all there; null while the server is at it. */
export function stuckOf({ state, error }: Pick<Upload, "state" | "error">): UploadProblem | null {
  return state === "stuck" && error ? { kind: "stuck", text: error.detail, remedy: error.remedy } : null;
}

/** Whether it helps to send the file again. */
export function sendingHelps(problem: UploadProblem | null | undefined): boolean {
  return !["lost", "unfit", "stuck"].includes(problem?.kind ?? "");
}

/** The file itself was refused, and no field of what was said about it: the same file is refused again. */
function isUnfit(status: number, told: ProblemDocument): boolean {
  return (status === 415 || status === 422) && Boolean(told.detail) && !told.errors?.length;
}

function parsed(body: string): ProblemDocument {
  try {
    const found: unknown = JSON.parse(body);
    return typeof found === "object" && found !== null ? (found as ProblemDocument) : {};
  } catch {
    return {};
  }
}
