import type { InboxGroup, InboxPage, Job, Requeue } from "@/api/types";
import { untilDone, type Outcome } from "@/services/many";
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

/** Also those that somebody wants to hear no more of. */
export async function listDismissed(): Promise<InboxGroup[]> {
  const page = await answer(client.GET("/api/inbox", { params: { query: { dismissed: true } } }));
  return page.items.filter((group) => group.dismissed);
}

export function dismissGroup({ operation, kind, message }: Cause): Promise<unknown> {
  return answer(client.POST("/api/inbox/dismiss", { body: { operation, kind, message } }));
}

export function restoreGroup({ operation, kind, message }: Cause): Promise<unknown> {
  return answer(client.POST("/api/inbox/restore", { body: { operation, kind, message } }));
}

export function listInboxJobs(cause: Partial<Cause>, after: string | null, limit = 50): Promise<Page<Job>> {
  return answer(client.GET("/api/inbox/jobs", { params: { query: { ...cause, after: after ?? undefined, limit } } }));
}

export function requeue(asked: Partial<Requeue>): Promise<Outcome> {
  return untilDone(async (after) => {
    const body: Requeue = { all: false, keep_steps: false, ...asked, ...(after === null ? {} : { after }) };
    const batch = await answer(client.POST("/api/inbox/requeue", { body }));
    return { ...batch, done: batch.requeued };
  });
}
