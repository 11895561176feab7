/** The typed client of the API. Answers come back as values, everything else as a Problem. */
import createClient from "openapi-fetch";
import type { paths } from "@/api/schema";
import { basePath } from "@/services/base";
import { problemFrom, unreachable } from "@/services/problem";

/** What the session store does about a session the server no longer knows. */
let onUnauthenticated: () => void = () => undefined;

export function whenUnauthenticated(act: () => void): void {
  onUnauthenticated = act;
}

async function send(request: Request): Promise<Response> {
  try {
    return await globalThis.fetch(request);
  } catch {
    throw unreachable();
  }
}

export const client = createClient<paths>({
  baseUrl: new URL(basePath(), document.baseURI).href.replace(/\/$/, ""),
  fetch: send,
  cache: "no-store",
});

interface Answered<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of a good answer; a bad one is thrown. */
export async function answer<T>(asked: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await asked;
  if (response.ok) return data as T;
  if (response.status === 401) onUnauthenticated();
  throw problemFrom(error, response);
}
