/** What a job works on, and the page that shows it. */
import type { RouteLocationRaw } from "vue-router";
import type { Subject } from "@/api/types";
import { capital } from "@/format/words";
import { nameOfItem } from "@/services/documents/itemNames";

const PAGES: Readonly<Record<string, string>> = {
  batch: "batch",
  recording: "recording",
  document: "document",
  document_run: "document-run",
  document_item: "document-item",
};

/** Where the engine's word for it is not the reader's. */
const KINDS: Readonly<Record<string, string>> = { document_run: "Run", document_item: "Document" };

/** What it is called, where only a question to the server tells. */
const NAMES: Readonly<Record<string, (id: string) => Promise<string | null>>> = { document_item: nameOfItem };

export async function nameOf(subject: Subject | null | undefined): Promise<string | null> {
  return subject ? ((await NAMES[subject.kind]?.(subject.id)) ?? null) : null;
}

export interface SubjectPlace {
  /** "Batch", "Recording". */
  kind: string;
  /** null: it has no page here. */
  to: RouteLocationRaw | null;
}

export function placeOf(subject: Subject | null | undefined): SubjectPlace | null {
  if (!subject) return null;
  const page = PAGES[subject.kind];
  return {
    kind: KINDS[subject.kind] ?? capital(subject.kind.replaceAll("_", " ")),
    to: page ? { name: page, params: { id: subject.id } } : null,
  };
}
