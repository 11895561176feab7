/** What the push stream says about runs, their items and documents: each as the server lists it, shown as it is. */
import type { DocumentItem, DocumentRun, ReadDocument } from "@/api/types";
import { registerKind, type Pushed, type RowPush } from "@/stores/live";

export const runsIn: (pushed: Pushed) => RowPush<DocumentRun>[] = registerKind<DocumentRun>("document_run");
export const itemsIn: (pushed: Pushed) => RowPush<DocumentItem>[] = registerKind<DocumentItem>("document_item");
export const documentsIn: (pushed: Pushed) => RowPush<ReadDocument>[] = registerKind<ReadDocument>("document");
