// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { effectScope, nextTick, ref, type EffectScope } from "vue";
import { afterAnyJob, useLiveQuery, type LiveQuery, type LiveQueryOptions } from "@/composables/useLiveQuery";
import { usePages, type Pages } from "@/composables/usePages";
import type { Page } from "@/services/jobs";
import { Problem, unreachable } from "@/services/problem";
import { flushLive, receive, setLiveStatus } from "@/stores/live";
import { job, jobMessage } from "./rows";

interface Question {
  answer(value: string): Promise<void>;
  fail(problem: Problem): Promise<void>;
}

/** A server that answers when the test says so. */
let questions: Question[] = [];

function ask(): Promise<string> {
  return new Promise((resolve, reject) => {
    const settled = (act: () => void): Promise<void> => {
      act();
      return settle();
    };
    questions.push({
      answer: (value) => settled(() => resolve(value)),
      fail: (problem) => settled(() => reject(problem)),
    });
  });
}

async function settle(ms = 0): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

function push(id: string, seq = 2): void {
  receive([jobMessage(job(id, { seq }))]);
  flushLive();
}

function hide(hidden: boolean): void {
  vi.spyOn(document, "hidden", "get").mockReturnValue(hidden);
  document.dispatchEvent(new Event("visibilitychange"));
}

let scope: EffectScope;
beforeEach(() => {
  vi.useFakeTimers();
  questions = [];
  scope = effectScope();
});
afterEach(() => {
  scope.stop();
  setLiveStatus("off");
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function open(options: LiveQueryOptions<string> = {}): LiveQuery<string> {
  return scope.run(() => useLiveQuery(ask, options)) as LiveQuery<string>;
}

describe("a live query", () => {
  it("asks at once, and again within the given time of a push, once for many", async () => {
    const query = open({ after: afterAnyJob(1000) });
    await questions[0]?.answer("one");
    expect(query.data.value).toBe("one");
    push("a");
    push("b");
    await settle(999);
    expect(questions).toHaveLength(1);
    await settle(1);
    expect(questions).toHaveLength(2);
    await questions[1]?.answer("two");
    expect(query.data.value).toBe("two");
    await settle(60_000);
    expect(questions).toHaveLength(2);
  });

  it("asks at its time for what was pushed, also when it is asked in between", async () => {
    const query = open({ after: afterAnyJob(1000) });
    await questions[0]?.answer("one");
    push("a");
    await settle(500);
    void query.reload();
    await questions[1]?.answer("one, from before the push");
    await settle(500);
    expect(questions).toHaveLength(3);
    await questions[2]?.answer("two");
    expect(query.data.value).toBe("two");
    await settle(60_000);
    expect(questions).toHaveLength(3);
  });

  it("holds to the nearest moment, whichever was set first", async () => {
    open({ after: ({ jobs }) => (jobs[0]?.job.id === "near" ? 100 : 5000) });
    await questions[0]?.answer("one");
    push("far");
    push("near");
    await settle(100);
    expect(questions).toHaveLength(2);
    await questions[1]?.answer("two");
    await settle(10_000);
    expect(questions).toHaveLength(2);
  });

  it("is not asked again by what does not matter to it", async () => {
    open({ after: () => null });
    await questions[0]?.answer("one");
    push("a");
    await settle(60_000);
    expect(questions).toHaveLength(1);
  });

  it("has one question on its way, and asks once more for what happened meanwhile", async () => {
    open({ after: afterAnyJob(100) });
    push("a");
    await settle(5000);
    push("b");
    await settle(5000);
    expect(questions).toHaveLength(1);
    await questions[0]?.answer("one");
    expect(questions).toHaveLength(2);
    await questions[1]?.answer("two");
    await settle(5000);
    expect(questions).toHaveLength(2);
  });

  it("drops the answer to a question that was overtaken", async () => {
    const query = open();
    void query.reload();
    await questions[1]?.answer("newer");
    await questions[0]?.answer("older");
    expect(query.data.value).toBe("newer");
    expect(query.loading.value).toBe(false);
  });

  it("keeps what was pushed after the question over its answer, but not over a later one", async () => {
    const query = open();
    await questions[0]?.answer("one");
    void query.reload();
    query.amend((shown) => `${shown}, pushed`);
    expect(query.data.value).toBe("one, pushed");
    await questions[1]?.answer("two");
    expect(query.data.value).toBe("two, pushed");
    void query.reload();
    await questions[2]?.answer("three");
    expect(query.data.value).toBe("three");
  });

  it("says what went wrong until an answer comes, and keeps what it shows", async () => {
    const query = open();
    await questions[0]?.fail(new Problem({ status: 500, title: "no" }));
    expect(query.error.value?.status).toBe(500);
    void query.reload();
    await questions[1]?.answer("one");
    expect(query.error.value).toBeNull();
    void query.reload();
    await questions[2]?.fail(new Problem({ status: 403, title: "not yours" }));
    expect([query.data.value, query.error.value?.status]).toEqual(["one", 403]);
  });

  it("does not complain of a server that is away for a moment, and asks when it is back", async () => {
    setLiveStatus("open");
    const query = open();
    await questions[0]?.answer("one");
    setLiveStatus("reconnecting");
    void query.reload();
    await questions[1]?.fail(unreachable());
    expect([query.data.value, query.error.value]).toEqual(["one", null]);
    await settle(60_000);
    expect(questions).toHaveLength(2);
    setLiveStatus("open");
    expect(questions).toHaveLength(3);
  });

  it("asks anew when the stream could not be resumed", async () => {
    open();
    await questions[0]?.answer("one");
    receive([{ id: "t9", event: "reset", data: '{"reason":"expired"}' }]);
    flushLive();
    await settle();
    expect(questions).toHaveLength(2);
  });

  it("asks nothing in a hidden tab, and once when somebody comes back", async () => {
    open({ after: afterAnyJob(100), pollMs: 1000 });
    await questions[0]?.answer("one");
    hide(true);
    push("a");
    await settle(10_000);
    expect(questions).toHaveLength(1);
    hide(false);
    expect(questions).toHaveLength(2);
    await questions[1]?.answer("two");
    hide(true);
    hide(false);
    expect(questions).toHaveLength(2);
  });

  it("asks in a hidden tab where somebody is to be told", async () => {
    open({ after: afterAnyJob(100), evenHidden: true });
    await questions[0]?.answer("one");
    hide(true);
    push("a");
    await settle(100);
    expect(questions).toHaveLength(2);
  });

  it("asks by the clock, only while something is under way", async () => {
    const under = ref(true);
    open({ pollMs: 1000, pollWhile: () => under.value });
    await questions[0]?.answer("one");
    await settle(1000);
    expect(questions).toHaveLength(2);
    await questions[1]?.answer("two");
    under.value = false;
    await settle(60_000);
    expect(questions).toHaveLength(2);
  });

  it("asks when what it depends on changes", async () => {
    const what = ref("a");
    open({ watch: what });
    await questions[0]?.answer("one");
    what.value = "b";
    await nextTick();
    expect(questions).toHaveLength(2);
  });

  it("ends with its owner", async () => {
    const query = open({ after: afterAnyJob(100), pollMs: 1000 });
    push("a");
    scope.stop();
    await questions[0]?.answer("late");
    push("b");
    setLiveStatus("open");
    await settle(60_000);
    expect(questions).toHaveLength(1);
    expect(query.data.value).toBeNull();
  });
});

describe("a list that is read page by page", () => {
  interface Row {
    id: string;
    text?: string;
  }
  const rows = (...ids: string[]): Row[] => ids.map((id) => ({ id }));
  let server: Record<string, Page<Row>>;
  let asked: (string | null)[];
  let held: (() => void)[] | null;
  const filter = ref("");
  beforeEach(() => {
    server = { null: { items: rows("r4", "r3"), next: "r3" }, r3: { items: rows("r3", "r2"), next: "r2" } };
    server["r2"] = { items: rows("r1"), next: null };
    asked = [];
    held = null;
  });

  async function load(after: string | null): Promise<Page<Row>> {
    asked.push(after);
    if (held) await new Promise<void>((resolve) => held?.push(resolve));
    return server[String(after)] as Page<Row>;
  }

  async function openPages(): Promise<Pages<Row>> {
    const pages = scope.run(() => usePages(load, { watch: filter })) as Pages<Row>;
    await settle();
    return pages;
  }

  const ids = (pages: Pages<Row>): string[] | undefined => pages.items.value?.map((row) => row.id);

  it("shows no row twice, and says when there is no more", async () => {
    const pages = await openPages();
    expect([ids(pages), pages.more.value]).toEqual([["r4", "r3"], true]);
    await pages.loadMore();
    expect([ids(pages), pages.more.value]).toEqual([["r4", "r3", "r2"], true]);
    await pages.loadMore();
    await pages.loadMore();
    expect([ids(pages), pages.more.value]).toEqual([["r4", "r3", "r2", "r1"], false]);
    expect(asked).toEqual([null, "r3", "r2"]);
  });

  it("is asked for anew as far as it is shown", async () => {
    const pages = await openPages();
    await pages.loadMore();
    server["null"] = { items: rows("r5", "r4"), next: "r3" };
    asked = [];
    await pages.reload();
    expect(asked).toEqual([null, "r3"]);
    expect(ids(pages)).toEqual(["r5", "r4", "r3", "r2"]);
  });

  it("begins anew when its filter changes", async () => {
    const pages = await openPages();
    await pages.loadMore();
    asked = [];
    filter.value = "other";
    await settle();
    expect(asked).toEqual([null]);
    expect(ids(pages)).toEqual(["r4", "r3"]);
  });

  it("lets the reader go on while it is asked for anew, which is made good afterwards", async () => {
    const pages = await openPages();
    held = [];
    void pages.reload();
    await settle();
    const more = pages.loadMore();
    void pages.loadMore();
    asked = [];
    held.forEach((release) => release());
    held = null;
    await more;
    expect(ids(pages)).toEqual(["r4", "r3", "r2"]);
    expect(asked).toEqual([null, "r3"]);
  });

  it("keeps a pushed row over an answer that was asked for before", async () => {
    const pages = await openPages();
    void pages.reload();
    pages.amend((shown) => shown.map((row) => (row.id === "r3" ? { ...row, text: "pushed" } : row)));
    await settle();
    expect(pages.items.value?.[1]).toEqual({ id: "r3", text: "pushed" });
  });
});
