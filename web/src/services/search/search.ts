/** Everything that is asked of the index: passages, names, and answers to questions. */
import type { Answered, Asking, Entities, SearchResult } from "@/api/types";
import { answer, client } from "@/services/client";
import type { Page } from "@/services/jobs";
import type { SearchScope } from "@/services/search/asked";

export type Found = SearchResult & { id: string };

function within(scope: Partial<SearchScope>) {
  return {
    kind: scope.kind || undefined,
    type: scope.type || undefined,
    run: scope.run || undefined,
    entity: scope.entity || undefined,
  };
}

export async function search(
  q: string,
  scope: Partial<SearchScope> & { how?: "both" | "words" | "meaning"; document?: string },
  cursor: string | null,
  limit = 10,
): Promise<Page<Found>> {
  if (!q) return { items: [], next: null };
  const query = {
    q,
    ...within(scope),
    how: scope.how ?? ("both" as const),
    document_id: scope.document,
    cursor: cursor ?? undefined,
    limit,
  };
  const found = await answer(client.GET("/api/documents/search", { params: { query } }));
  return { items: found.results.map((one) => ({ ...one, id: one.passage_id })), next: found.next };
}

export function listEntities(
  asked: { type?: string; begins?: string; document?: string },
  cursor: string | null,
  limit = 50,
): Promise<Entities> {
  const { type, begins = "", document } = asked;
  const query = { type: type || undefined, q: begins, document_id: document, cursor: cursor ?? undefined, limit };
  return answer(client.GET("/api/documents/entities", { params: { query } }));
}

/** Whether questions are answered here. */
export function canAsk(): Promise<Asking> {
  return answer(client.GET("/api/documents/ask"));
}

/** Does not wait: how far it is comes with the stream. */
export function ask(question: string, scope: Partial<SearchScope>): Promise<Answered> {
  return answer(client.POST("/api/documents/ask", { body: { question, ...within(scope), wait: 0 } }));
}

export function getAnswer(id: string): Promise<Answered> {
  return answer(client.GET("/api/documents/ask/{question_id}", { params: { path: { question_id: id } } }));
}
