import type { Counts, Job, JobDetail, JobEvent, JobFilter, JobState, NewJob, Operation } from "@/api/types";
import { answer, client } from "@/services/client";
import { underBase } from "@/services/base";
import { inParts, untilDone, type Outcome } from "@/services/many";
import type { ApiFilter } from "@/services/filters";

export interface Page<T> {
  items: T[];
  next: string | null;
}

export function listJobs(filter: ApiFilter, options: { after?: string | null; limit?: number } = {}): Promise<Page<Job>> {
  const query = { ...filter, after: options.after ?? undefined, limit: options.limit ?? 100 };
  return answer(client.GET("/api/jobs", { params: { query } }));
}

export function getCounts(): Promise<Counts> {
  return answer(client.GET("/api/jobs/counts"));
}

export function getJob(id: string): Promise<JobDetail> {
  // The client's types widen the pair in `eta_seconds` to a list.
  return answer(client.GET("/api/jobs/{id}", { params: { path: { id } } })) as Promise<JobDetail>;
}

export async function listEvents(id: string, after: number, limit: number): Promise<JobEvent[]> {
  const query = { after, limit };
  return (await answer(client.GET("/api/jobs/{id}/events", { params: { path: { id }, query } }))).items;
}

export function listChildren(
  id: string,
  options: { state?: JobState[]; after?: string | null; limit?: number } = {},
): Promise<Page<Job>> {
  const query = { state: options.state, after: options.after ?? undefined, limit: options.limit ?? 50 };
  return answer(client.GET("/api/jobs/{id}/children", { params: { path: { id }, query } }));
}

export function createJob(body: NewJob): Promise<Job> {
  return answer(client.POST("/api/jobs", { body }));
}

export function cancelJob(id: string): Promise<{ cancelled: string[]; was: JobState }> {
  return answer(client.POST("/api/jobs/{id}/cancel", { params: { path: { id } } }));
}

export function retryJob(id: string, body: { payload?: unknown; keep_steps?: boolean } = {}): Promise<Job> {
  return answer(client.POST("/api/jobs/{id}/retry", { params: { path: { id } }, body: { keep_steps: false, ...body } }));
}

export function signalJob(id: string, name: string, payload: unknown): Promise<unknown> {
  return answer(client.POST("/api/jobs/{id}/signal", { params: { path: { id } }, body: { name, payload } }));
}

export function setPriority(id: string, priority: number): Promise<Job> {
  return answer(client.PATCH("/api/jobs/{id}", { params: { path: { id } }, body: { priority } }));
}

export function deleteJob(id: string): Promise<{ deleted: number }> {
  return answer(client.DELETE("/api/jobs/{id}", { params: { path: { id } } }));
}

export type BulkAction = "cancel" | "retry" | "delete";

export function bulk(
  action: BulkAction,
  chosen: { ids: string[] } | { filter: JobFilter },
  onBatch?: (done: number) => void,
): Promise<Outcome> {
  const ask = (body: { ids: string[] } | { filter: JobFilter }) =>
    answer(client.POST("/api/jobs/bulk", { body: { action, ...body } }));
  if ("ids" in chosen) return inParts(chosen.ids, (ids) => ask({ ids }), onBatch);
  return untilDone((after) => ask({ filter: after === null ? chosen.filter : { ...chosen.filter, after } }), onBatch);
}

/** Where a value too large to show inline is downloaded from. */
export function valueAddress(id: string, which: "payload" | "result"): string {
  return underBase(`api/jobs/${id}/${which}`);
}

export function listOperations(): Promise<Operation[]> {
  return answer(client.GET("/api/operations"));
}
