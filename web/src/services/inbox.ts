import type { InboxPage, Job, Requeue, Requeued } from "@/api/types";
import { answer, client } from "@/services/client";
import type { Page } from "@/services/jobs";

export interface Cause {
  operation: string;
  kind: string;
  message: string;
}

export function listInbox(): Promise<InboxPage> {
  return answer(client.GET("/api/inbox"));
}

export function listInboxJobs(cause: Partial<Cause>, after: string | null, limit = 50): Promise<Page<Job>> {
  return answer(client.GET("/api/inbox/jobs", { params: { query: { ...cause, after: after ?? undefined, limit } } }));
}

export interface RequeueResult {
  requeued: number;
  refused: Record<string, string>;
}

/** Goes on until nothing remains: the server works in bounded batches. */
export async function requeue(asked: Partial<Requeue>): Promise<RequeueResult> {
  const total: RequeueResult = { requeued: 0, refused: {} };
  for (let after: string | null = null; ;) {
    const body: Requeue = { all: false, keep_steps: false, ...asked, ...(after === null ? {} : { after }) };
    const batch: Requeued = await answer(client.POST("/api/inbox/requeue", { body }));
    total.requeued += batch.requeued;
    Object.assign(total.refused, batch.refused);
    if (!batch.remaining || batch.next === null) return total;
    after = batch.next;
  }
}
