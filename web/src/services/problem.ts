/** What went wrong, in the server's own words: RFC 9457 documents, and the same shape for what never reached it. */

export interface FieldError {
  path: string;
  message: string;
}

export interface ProblemDocument {
  type?: string;
  title?: string;
  status?: number;
  detail?: string | null;
  remedy?: string | null;
  instance?: string | null;
  errors?: FieldError[] | null;
}

export class Problem extends Error {
  readonly status: number;
  readonly slug: string;
  readonly title: string;
  readonly detail: string;
  readonly remedy: string | null;
  readonly instance: string | null;
  readonly errors: FieldError[];
  readonly retryAfter: number | null;

  constructor(document: ProblemDocument, retryAfter: number | null = null) {
    super(document.detail || document.title || "Something went wrong");
    this.name = "Problem";
    this.status = document.status ?? 0;
    this.slug = (document.type ?? "").split("/").pop() || "internal";
    this.title = document.title ?? "Something went wrong";
    this.detail = document.detail ?? "";
    this.remedy = document.remedy ?? null;
    this.instance = document.instance ?? null;
    this.errors = document.errors ?? [];
    this.retryAfter = retryAfter;
  }
}

export function unreachable(): Problem {
  return new Problem({
    type: "/problems/unreachable",
    title: "The server cannot be reached",
    detail: "The request got no answer.",
    remedy: "This page tries again by itself as soon as the server is back.",
  });
}

/** Whether it is about reaching the server, which the live indicator tells and time mends. */
export function isAbsence(problem: Problem): boolean {
  return problem.slug === "unreachable" || problem.status >= 502;
}

/** Any answer that is not a success, whatever its body turned out to be. */
export function problemFrom(body: unknown, response: Response): Problem {
  const retry = Number(response.headers.get("Retry-After"));
  const after = Number.isFinite(retry) && retry > 0 ? retry : null;
  if (typeof body === "object" && body !== null && "title" in body) {
    return new Problem({ status: response.status, ...(body as ProblemDocument) }, after);
  }
  const title = response.status >= 502 ? "The server is not ready" : `The server answered ${response.status}`;
  return new Problem({ status: response.status, title, detail: response.statusText }, after);
}

export function asProblem(caught: unknown): Problem {
  if (caught instanceof Problem) return caught;
  return new Problem({ title: "Something went wrong", detail: caught instanceof Error ? caught.message : String(caught) });
}
