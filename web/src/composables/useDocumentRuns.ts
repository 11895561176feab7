import type { DocumentItem, DocumentRun, ItemStatus, ReadDocument, RunStatus } from "@/api/types";
import type { Pages } from "@/composables/usePages";
import { usePushedPages } from "@/composables/usePushedPages";
import { listDocuments } from "@/services/documents/documents";
import { documentsIn, itemsIn, runsIn } from "@/services/documents/news";
import { listItems, listRuns } from "@/services/documents/runs";

/** Runs, newest first. */
export function useRuns(status: () => RunStatus[]): Pages<DocumentRun> {
  return usePushedPages((after) => listRuns(status(), after), {
    rows: runsIn,
    watch: status,
    narrowed: () => status().length > 0,
  });
}

/** Documents that were read, newest first. */
export function useDocuments(text: () => string): Pages<ReadDocument> {
  return usePushedPages((after) => listDocuments(text(), after), {
    rows: documentsIn,
    watch: text,
    narrowed: () => text() !== "",
  });
}

/** The items of a run in its order. Those of a folder come to be while somebody looks. */
export function useRunItems(runId: string, status: () => ItemStatus[]): Pages<DocumentItem> {
  const pages: Pages<DocumentItem> = usePushedPages((after) => listItems(runId, status(), after), {
    rows: (pushed) => itemsIn(pushed).filter(({ row }) => row === null || row.run_id === runId),
    watch: status,
    narrowed: () => status().length > 0,
    lacks: (row, shown) => !pages.more.value && !status().length && !shown.some(({ id }) => id === row.id),
  });
  return pages;
}
