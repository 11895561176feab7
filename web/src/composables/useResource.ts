/**
 * Something loaded from the server and kept fresh: at once, again when the stream says that something happened (not more
 * often than every `everyMs`), again after a gap in the stream, and slowly by the clock for what is not pushed. While the
 * tab is hidden nothing is asked; coming back asks once. A newer question makes an older answer irrelevant.
 */
import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef, type WatchSource } from "vue";
import { asProblem, isAbsence, type Problem } from "@/services/problem";
import { listenLive } from "@/stores/live";

export interface ResourceOptions {
  /** Loads again when one of these changes; the old answer is kept until the new one is here. */
  watch?: WatchSource | WatchSource[];
  /** How soon pushed activity may load it again; left out: activity does not. */
  everyMs?: number;
  /** Loads again by the clock. */
  pollMs?: number;
}

export interface Resource<T> {
  data: ShallowRef<T | null>;
  error: Ref<Problem | null>;
  loading: Ref<boolean>;
  reload(): Promise<void>;
}

export function useResource<T>(load: () => Promise<T>, options: ResourceOptions = {}): Resource<T> {
  const data = shallowRef<T | null>(null);
  const error = ref<Problem | null>(null);
  const loading = ref(false);
  let asked = 0;
  let stale = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function reload(): Promise<void> {
    asked += 1;
    const mine = asked;
    stale = false;
    loading.value = true;
    try {
      const answer = await load();
      if (mine !== asked) return;
      data.value = answer;
      error.value = null;
    } catch (caught) {
      if (mine === asked) miss(asProblem(caught));
    } finally {
      if (mine === asked) loading.value = false;
    }
  }

  /** A server that is away for a moment does not push what is shown aside; it is asked again when it is back. */
  function miss(problem: Problem): void {
    stale = true;
    if (data.value === null || !isAbsence(problem)) error.value = problem;
  }

  function soon(ms: number): void {
    stale = true;
    timer ??= setTimeout(() => {
      timer = undefined;
      if (stale && !document.hidden) void reload();
    }, ms);
  }

  function onVisible(): void {
    if (!document.hidden && stale) void reload();
  }

  const { everyMs, pollMs } = options;
  const stopListening = listenLive({
    onJobs: everyMs ? () => soon(everyMs) : undefined,
    onDeleted: everyMs ? () => soon(everyMs) : undefined,
    onReload: () => void reload(),
    onOpen: () => void (stale && reload()),
  });
  const poll = pollMs ? setInterval(() => soon(0), pollMs) : undefined;
  document.addEventListener("visibilitychange", onVisible);
  if (options.watch) watch(options.watch, () => void reload(), { deep: true });

  onScopeDispose(() => {
    asked += 1;
    stopListening();
    clearTimeout(timer);
    clearInterval(poll);
    document.removeEventListener("visibilitychange", onVisible);
  });

  void reload();
  return { data, error, loading, reload };
}
