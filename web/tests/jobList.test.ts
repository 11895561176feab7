// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { effectScope, type EffectScope } from "vue";
import type { Job } from "@/api/types";
import { useLiveJobs, type JobList, type JobSource } from "@/composables/useLiveJobs";
import type { Page } from "@/services/jobs";
import { unreachable } from "@/services/problem";
import { heldCount } from "@/stores/jobs";
import { flushLive, receive, setLiveStatus } from "@/stores/live";
import { job, jobMessage } from "./rows";

const id = (number: number): string => `j${String(number).padStart(4, "0")}`;

/** Jobs from the newest down to 1, in pages of ten. */
function server(newest: number) {
  const asked: (string | null)[] = [];
  const kept = { newest };
  const load = (after: string | null): Promise<Page<Job>> => {
    asked.push(after);
    const first = after === null ? kept.newest : Number(after.slice(1)) - 1;
    const items = Array.from({ length: Math.min(10, first) }, (_, index) => job(id(first - index)));
    return Promise.resolve({ items, next: first > 10 ? (items.at(-1)?.id ?? null) : null });
  };
  return { asked, kept, load };
}

const isQueued = (row: Job): boolean => row.state === "queued";

function push(...rows: Job[]): void {
  receive(rows.map((row) => jobMessage(row)));
  flushLive();
}

describe("a live list", () => {
  let list: JobList;
  let scope: EffectScope;
  beforeEach(() => {
    vi.useFakeTimers();
    scope = effectScope();
  });
  afterEach(() => {
    scope.stop();
    setLiveStatus("off");
    vi.useRealTimers();
    expect(heldCount()).toBe(0);
  });

  const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

  async function open(load: JobSource["load"], options: Partial<JobSource> = {}): Promise<void> {
    list = scope.run(() => useLiveJobs({ load, matches: () => true, lingerMs: 1000, ...options })) as JobList;
    await settle();
  }

  const shown = (): string[] => list.rows.value.map((row) => row.id);

  it("reads page after page and knows when it is complete", async () => {
    await open(server(25).load);
    expect(list.complete.value).toBe(false);
    await list.loadMore();
    await list.loadMore();
    expect(list.rows.value).toHaveLength(25);
    expect(list.complete.value).toBe(true);
  });

  it("changes rows in place", async () => {
    await open(server(3).load);
    const row = list.rows.value[1];
    push(job(id(2), { state: "running", seq: 5 }));
    expect(list.rows.value[1]).toBe(row);
    expect(row?.state).toBe("running");
  });

  it("puts a new job on top while the reader is there", async () => {
    await open(server(3).load);
    push(job(id(5)), job(id(4)));
    expect(shown()).toEqual([id(5), id(4), id(3), id(2), id(1)]);
  });

  it("leaves out a job that came and left its filter in one batch", async () => {
    await open(server(3).load, { matches: isQueued });
    push(job(id(4), { state: "queued", seq: 1 }), job(id(4), { state: "running", seq: 2 }));
    expect(shown()).toEqual([id(3), id(2), id(1)]);
  });

  it("takes what was pushed while a page was on its way", async () => {
    let answer: (page: Page<Job>) => void = () => undefined;
    await open(() => new Promise((resolve) => (answer = resolve)), { matches: isQueued });
    push(job(id(2), { state: "running", seq: 5 }), job(id(4)), job(id(5)));
    receive([{ id: "", event: "deleted", data: JSON.stringify({ id: id(5) }) }]);
    flushLive();
    answer({ items: [job(id(3)), job(id(2)), job(id(1))], next: null });
    await settle();
    expect(shown()).toEqual([id(4), id(3), id(2), id(1)]);
    expect(list.leaving.value.has(id(2))).toBe(true);
    vi.advanceTimersByTime(1000);
    expect(shown()).toEqual([id(4), id(3), id(1)]);
  });

  it("keeps new jobs behind the pill while the reader is elsewhere", async () => {
    await open(server(3).load);
    list.atTop.value = false;
    push(job(id(4)), job(id(5)));
    push(job(id(5), { state: "running", seq: 2 }));
    expect(shown()).toHaveLength(3);
    expect(list.pending.value).toBe(2);
    list.showPending();
    expect(shown().slice(0, 2)).toEqual([id(5), id(4)]);
    expect(list.rows.value[0]?.state).toBe("running");
    expect(list.pending.value).toBe(0);
  });

  it("does not show a job that lies beyond what was loaded", async () => {
    await open(server(25).load);
    push(job(id(7), { state: "running", seq: 2 }));
    expect(shown()).not.toContain(id(7));
  });

  it("takes in an older job that comes to match, in its place", async () => {
    const items = [job(id(9), { state: "running" }), job(id(5), { state: "running" })];
    await open(() => Promise.resolve({ items, next: null }), { matches: (row) => row.state === "running" });
    push(job(id(7), { state: "running", seq: 3 }));
    expect(shown()).toEqual([id(9), id(7), id(5)]);
  });

  it("dims a row that no longer matches, and lets it go after a moment", async () => {
    await open(server(3).load, { matches: isQueued });
    push(job(id(2), { state: "running", seq: 2 }));
    expect(list.leaving.value.has(id(2))).toBe(true);
    expect(shown()).toContain(id(2));
    await vi.advanceTimersByTimeAsync(1100);
    expect(shown()).toEqual([id(3), id(1)]);
  });

  it("keeps a row that matches again before it was gone", async () => {
    await open(server(3).load, { matches: isQueued });
    push(job(id(2), { state: "running", seq: 2 }));
    push(job(id(2), { state: "queued", seq: 3 }));
    await vi.advanceTimersByTimeAsync(2000);
    expect(shown()).toContain(id(2));
  });

  it("drops deleted jobs at once", async () => {
    await open(server(3).load);
    receive([{ id: "t", event: "deleted", data: JSON.stringify({ id: id(2) }) }]);
    flushLive();
    expect(shown()).toEqual([id(3), id(1)]);
  });

  it("loads as many pages again as it shows when the stream was reset", async () => {
    const { asked, load } = server(40);
    await open(load);
    await list.loadMore();
    asked.length = 0;
    receive([{ id: "t", event: "reset", data: "{}" }]);
    flushLive();
    await settle();
    expect(asked).toEqual([null, id(31)]);
    expect(list.rows.value).toHaveLength(20);
  });

  it("forgets what waits behind the pill once an answer has brought it", async () => {
    const { kept, load } = server(3);
    await open(load);
    list.atTop.value = false;
    push(job(id(4)));
    kept.newest = 4;
    await list.reload();
    expect([shown()[0], list.pending.value]).toEqual([id(4), 0]);
  });

  it("begins anew when it grows too long at the top, and can be read on from there", async () => {
    const { kept, load } = server(60);
    await open(load, { most: 24 });
    await list.loadMore();
    kept.newest = 70;
    push(...Array.from({ length: 10 }, (_, index) => job(id(61 + index))));
    await settle();
    expect([shown()[0], shown().at(-1)]).toEqual([id(70), id(61)]);
    await list.loadMore();
    expect(shown().at(-1)).toBe(id(51));
  });

  it("is as long as it likes while the reader is elsewhere", async () => {
    const { asked, load } = server(60);
    await open(load, { most: 24 });
    await list.loadMore();
    await list.loadMore();
    list.atTop.value = false;
    asked.length = 0;
    push(job(id(61)));
    await settle();
    expect([asked, list.rows.value.length]).toEqual([[], 30]);
  });

  it("never grows beyond its cap, and lets go of what it drops", async () => {
    await open(() => Promise.resolve({ items: [job(id(2)), job(id(1))], next: null }), { cap: 3 });
    push(...Array.from({ length: 50 }, (_, index) => job(id(10 + index))));
    expect(shown()).toEqual([id(59), id(58), id(57)]);
    expect(heldCount()).toBe(3);
  });

  it("stops looking by itself after many pages without a match", async () => {
    let pages = 0;
    await open(() => Promise.resolve({ items: [], next: `p${(pages += 1)}` }));
    while (!list.barren.value) await list.loadMore();
    expect(pages).toBe(12);
    await list.loadMore();
    expect(list.barren.value).toBe(false);
  });

  it("tells why a page could not be loaded, and recovers", async () => {
    let fails = true;
    await open(() => (fails ? Promise.reject(new Error("no")) : Promise.resolve({ items: [job(id(1))], next: null })));
    expect(list.error.value?.detail).toBe("no");
    fails = false;
    await list.reload();
    expect(list.error.value).toBeNull();
    expect(shown()).toEqual([id(1)]);
  });

  it("keeps its rows while the server is away, says so to who would read on, and goes on when it is back", async () => {
    const { asked, load } = server(25);
    let away = false;
    await open((after) => (away ? Promise.reject(unreachable()) : load(after)));
    setLiveStatus("open");
    await settle();
    setLiveStatus("reconnecting");
    away = true;
    await list.loadMore();
    expect([list.rows.value.length, list.error.value, list.missed.value]).toEqual([10, null, true]);
    away = false;
    asked.length = 0;
    setLiveStatus("open");
    await settle();
    expect([asked, list.missed.value]).toEqual([[null], false]);
  });
});
