/** What is in the inbox now, shared by the navigation and the inbox itself. */
import { computed, onScopeDispose, shallowRef } from "vue";
import type { InboxPage } from "@/api/types";
import { useResource, type Resource } from "@/composables/useResource";
import { listInbox } from "@/services/inbox";
import { listenLive, type JobPush } from "@/stores/live";

/** The server groups at most once a second; asking sooner would get the old answer. */
const SOON_MS = 1200;

export const inbox = shallowRef<InboxPage | null>(null);
export const inboxJobs = computed(() => jobsIn(inbox.value));

export function jobsIn(page: Pick<InboxPage, "items"> | null): number {
  return page?.items.reduce((sum, group) => sum + group.jobs, 0) ?? 0;
}

/** Whether what was pushed put something into the inbox or took something out. */
export function concernsInbox(pushes: readonly JobPush[]): boolean {
  return pushes.some(
    ({ job, events }) =>
      job.state === "failed" || events.some((event) => ["job.failed", "job.requeued"].includes(event.name)),
  );
}

/** Asks again soon; for after something was done that the reader expects to see. */
export let refreshInbox: () => void = () => undefined;

/** Called once, by the shell; everybody else reads `inbox`. Only failures and requeues make it ask again. */
export function useInbox(): Resource<InboxPage> {
  const resource = useResource(async () => (inbox.value = await listInbox()), { pollMs: 60_000 });
  let timer: ReturnType<typeof setTimeout> | undefined;

  function soon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (!document.hidden) void resource.reload();
    }, SOON_MS);
  }

  const stopListening = listenLive({
    onJobs: (pushes) => void (concernsInbox(pushes) && soon()),
    onDeleted: () => void (inboxJobs.value && soon()),
  });
  refreshInbox = soon;
  onScopeDispose(() => {
    clearTimeout(timer);
    stopListening();
    inbox.value = null;
    refreshInbox = () => undefined;
  });
  return resource;
}
