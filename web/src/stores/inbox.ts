/** What is in the inbox now, shared by the navigation and the inbox itself. */
import { computed, onScopeDispose, shallowRef } from "vue";
import type { InboxPage } from "@/api/types";
import { useLiveQuery, type LiveQuery } from "@/composables/useLiveQuery";
import { listInbox } from "@/services/inbox";
import type { Pushed } from "@/stores/live";

/** The server groups at most once a second; asking sooner would get the old answer. */
const SOON_MS = 1200;
const CLOCK_MS = 60_000;

export const inbox = shallowRef<InboxPage | null>(null);
export const inboxJobs = computed(() => jobsIn(inbox.value));

export function jobsIn(page: Pick<InboxPage, "items"> | null): number {
  return page?.items.reduce((sum, group) => sum + group.jobs, 0) ?? 0;
}

/** Whether what was pushed put something into the inbox or took something out. */
export function concernsInbox({ jobs, deleted }: Pushed): boolean {
  return (
    (deleted.length > 0 && inboxJobs.value > 0) ||
    jobs.some(
      ({ job, events }) =>
        job.state === "failed" || events.some((event) => ["job.failed", "job.requeued"].includes(event.name)),
    )
  );
}

let shared: LiveQuery<InboxPage> | null = null;

/** One question for all: it begins with the shell, which outlives every page. */
export function useInbox(): LiveQuery<InboxPage> {
  if (shared) return shared;
  const after = (pushed: Pushed): number | null => (concernsInbox(pushed) ? SOON_MS : null);
  shared = useLiveQuery(listInbox, { after, pollMs: CLOCK_MS, into: inbox });
  onScopeDispose(() => (shared = inbox.value = null));
  return shared;
}
