/** What a job works on, and the page that shows it. */
import type { RouteLocationRaw } from "vue-router";
import type { Subject } from "@/api/types";
import { capital } from "@/format/words";

const PAGES: Readonly<Record<string, string>> = { batch: "batch", recording: "recording" };

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
    kind: capital(subject.kind.replaceAll("_", " ")),
    to: page ? { name: page, params: { id: subject.id } } : null,
  };
}
