/** Everything that is asked of the server about runs and their items. */
import type {
  DocumentItem,
  DocumentRun,
  FailureCause,
  ItemEvent,
  ItemStatus,
  MadeRun,
  NewRun,
  RetryItems,
  RunStatus,
} from "@/api/types";
import { answer, client } from "@/services/client";
import type { Page } from "@/services/jobs";
import type { Outcome } from "@/services/many";
import { asProblem } from "@/services/problem";

const at = (id: string) => ({ path: { run_id: id } });

export function listRuns(status: RunStatus[], after: string | null, limit = 50): Promise<Page<DocumentRun>> {
  const query = { status, after: after ?? undefined, limit };
  return answer(client.GET("/api/documents/runs", { params: { query } }));
}

export function getRun(id: string): Promise<DocumentRun> {
  return answer(client.GET("/api/documents/runs/{run_id}", { params: at(id) }));
}

export function createRun(body: NewRun): Promise<MadeRun> {
  return answer(client.POST("/api/documents/runs", { body }));
}

export function cancelRun(id: string): Promise<{ cancelled: string[] }> {
  return answer(client.POST("/api/documents/runs/{run_id}/cancel", { params: at(id) }));
}

export function deleteRun(id: string): Promise<{ deleted: number }> {
  return answer(client.DELETE("/api/documents/runs/{run_id}", { params: at(id) }));
}

/** Without anything, every item that failed or was cancelled. */
export async function retryItems(id: string, body: RetryItems): Promise<Outcome> {
  const told = await answer(client.POST("/api/documents/runs/{run_id}/retry", { params: at(id), body }));
  return { done: told.retried, refused: told.refused };
}

/** Of a run whose jobs are gone nobody can say any more. */
export async function listCauses(id: string): Promise<FailureCause[]> {
  try {
    return (await answer(client.GET("/api/documents/runs/{run_id}/causes", { params: at(id) }))).causes;
  } catch (caught) {
    if (asProblem(caught).status === 409) return [];
    throw caught;
  }
}

export function listItems(id: string, status: ItemStatus[], after: string | null, limit = 100): Promise<Page<DocumentItem>> {
  const query = { status, after: after === null ? undefined : Number(after), limit };
  return answer(client.GET("/api/documents/runs/{run_id}/items", { params: { ...at(id), query } }));
}

/** Whichever runs they belong to; those that are not there are left out. */
export async function findItems(ids: string[]): Promise<DocumentItem[]> {
  return (await answer(client.GET("/api/documents/items", { params: { query: { id: ids } } }))).items;
}

export async function listItemEvents(runId: string, itemId: string): Promise<ItemEvent[]> {
  const asked = { path: { run_id: runId, item_id: itemId }, query: { limit: 1000 } };
  return (await answer(client.GET("/api/documents/runs/{run_id}/items/{item_id}/events", { params: asked }))).items;
}
