/** Everything that is asked of the server about documents that were read. */
import type { DocumentItem, DocumentPage, MadeRun, PassageInPlace, ReadDocument } from "@/api/types";
import { underBase } from "@/services/base";
import { answer, client } from "@/services/client";
import type { Page } from "@/services/jobs";

const at = (id: string) => ({ path: { document_id: id } });

export function listDocuments(text: string, after: string | null, limit = 50): Promise<Page<ReadDocument>> {
  const query = { text: text || undefined, after: after ?? undefined, limit };
  return answer(client.GET("/api/documents", { params: { query } }));
}

export function getDocument(id: string): Promise<ReadDocument> {
  return answer(client.GET("/api/documents/{document_id}", { params: at(id) }));
}

export function getPage(id: string, number: number): Promise<DocumentPage> {
  const path = { document_id: id, number };
  return answer(client.GET("/api/documents/{document_id}/pages/{number}", { params: { path } }));
}

/** What it was read for, in whichever run, the newest first. */
export function listReadings(id: string, after: string | null, limit = 20): Promise<Page<DocumentItem>> {
  const query = { after: after ?? undefined, limit };
  return answer(client.GET("/api/documents/{document_id}/items", { params: { ...at(id), query } }));
}

/** A passage of it, by its number in the order of the text. */
export function getPassage(id: string, ordinal: number): Promise<PassageInPlace> {
  const path = { passage_id: `document/${id}/${ordinal}` };
  return answer(client.GET("/api/documents/passages/{passage_id}", { params: { path, query: { around: 0 } } }));
}

export function readAgain(id: string): Promise<MadeRun> {
  return answer(client.POST("/api/documents/{document_id}/reingest", { params: at(id), body: {} }));
}

export function deleteDocument(id: string): Promise<{ deleted: number }> {
  return answer(client.DELETE("/api/documents/{document_id}", { params: at(id) }));
}

export function fileAddress(id: string): string {
  return underBase(`api/documents/${encodeURIComponent(id)}/file`);
}
