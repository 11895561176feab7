/**
 * A question to the server whose answer stays current, and the only way in which pages ask again for what they show; lists
 * that are read page by page (usePages) and logs that grow (useEventLog) are made of it. It is asked at once; when
 * what was pushed matters to it, as soon as `after` says; when the stream begins anew or the server is back; by the clock,
 * for what nobody pushes; and when somebody comes back to the tab. What happens while an answer is on its way asks once
 * more when it is here. A failure stays visible until an answer comes, and is asked again by `reload`.
 */
import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef, type WatchSource } from "vue";
import { asProblem, isAbsence, type Problem } from "@/services/problem";
import { listenLive, type Pushed } from "@/stores/live";

export interface LiveQueryOptions<T> {
  /** Asks again when one of these changes; the old answer is kept until the new one is here. */
  watch?: WatchSource | WatchSource[];
  /** Within how many milliseconds what was pushed makes it ask again; null: it does not matter here. */
  after?(pushed: Pushed): number | null;
  /** Asks again by the clock. */
  pollMs?: number;
  /** The clock only asks while this holds. */
  pollWhile?(): boolean;
  /** Asks in a hidden tab too, because somebody is to be told. */
  evenHidden?: boolean;
  /** Where the answer is kept, if others read it as well. */
  into?: ShallowRef<T | null>;
}

export interface LiveQuery<T> {
  data: ShallowRef<T | null>;
  error: Ref<Problem | null>;
  loading: Ref<boolean>;
  /** Whether the last question got no good answer; `error` is silent about a server that is away for a moment. */
  missed: Ref<boolean>;
  /** Asks now. An answer that is still on its way is dropped; what was pushed before is asked for at its time all the same. */
  reload(): Promise<void>;
  /** Changes what is shown, and the same in an answer that is on its way: it was asked for before. */
  amend(change: (shown: T) => T): void;
}

/** For what depends on jobs as a whole, such as figures: any of them makes it ask again within this time. */
export function afterAnyJob(ms: number): (pushed: Pushed) => number | null {
  return ({ jobs, deleted }) => (jobs.length || deleted.length ? ms : null);
}

/** `ask` is given what is shown at that moment. */
export function useLiveQuery<T>(ask: (shown: T | null) => Promise<T>, options: LiveQueryOptions<T> = {}): LiveQuery<T> {
  const data = options.into ?? shallowRef<T | null>(null);
  const error = ref<Problem | null>(null);
  const loading = ref(false);
  const missed = ref(false);
  let asked = 0;
  /** Whether what is shown may be old: it is asked for as soon as somebody looks and the server answers. */
  let stale = false;
  /** Whether it was due while an answer was on its way. */
  let again = false;
  let amendments: ((shown: T) => T)[] = [];
  let due = Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function reload(): Promise<void> {
    asked += 1;
    const mine = asked;
    // A moment that was set holds: the server may be told to answer for what was pushed only then, as the inbox is.
    [stale, again, amendments] = [due < Infinity, false, []];
    loading.value = true;
    try {
      const answer = await ask(data.value);
      if (mine === asked) show(answer);
    } catch (caught) {
      if (mine === asked) miss(asProblem(caught));
    }
    if (mine !== asked) return;
    loading.value = false;
    if (again) void reload();
  }

  function show(answer: T): void {
    data.value = amendments.reduce((shown, change) => change(shown), answer);
    error.value = null;
    missed.value = false;
  }

  /** A server that is away for a moment does not push what is shown aside; it is asked again when it is back. */
  function miss(problem: Problem): void {
    [stale, again] = [true, false];
    missed.value = true;
    if (data.value === null || !isAbsence(problem)) error.value = problem;
  }

  function amend(change: (shown: T) => T): void {
    if (loading.value) amendments.push(change);
    if (data.value !== null) data.value = change(data.value);
  }

  /** Asks within this time; a nearer moment that was set before holds. */
  function within(ms: number): void {
    stale = true;
    if (due <= Date.now() + ms) return;
    unset();
    due = Date.now() + ms;
    timer = setTimeout(wake, ms);
  }

  function unset(): void {
    clearTimeout(timer);
    due = Infinity;
  }

  function wake(): void {
    due = Infinity;
    if (document.hidden && !options.evenHidden) return;
    if (loading.value) again = true;
    else void reload();
  }

  function now(): void {
    stale = true;
    wake();
  }

  function ifStale(): void {
    if (stale) wake();
  }

  const stopListening = listenLive({
    onPushed(pushed) {
      const ms = options.after?.(pushed) ?? null;
      if (ms !== null) within(ms);
    },
    onReload: now,
    onOpen: ifStale,
  });
  const poll = options.pollMs
    ? setInterval(() => void ((options.pollWhile?.() ?? true) && now()), options.pollMs)
    : undefined;
  document.addEventListener("visibilitychange", ifStale);
  if (options.watch) watch(options.watch, () => void reload(), { deep: true });

  onScopeDispose(() => {
    asked += 1;
    unset();
    clearInterval(poll);
    stopListening();
    document.removeEventListener("visibilitychange", ifStale);
  });

  void reload();
  return { data, error, loading, missed, reload, amend };
}
