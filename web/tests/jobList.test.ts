import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Job } from "@/api/types";
import { createJobList, type JobList, type JobPage } from "@/stores/jobList";
import { heldCount } from "@/stores/jobs";
import { flushLive, receive, setLiveStatus } from "@/stores/live";
import { job, jobMessage } from "./rows";

const id = (number: number): string => `j${String(number).padStart(4, "0")}`;

/** Jobs `from` down to 1, in pages of ten. */
function source(from: number, matches: (row: Job) => boolean = () => true, most?: number) {
  const asked: (string | null)[] = [];
  const load = (after: string | null): Promise<JobPage> => {
    asked.push(after);
    const first = after === null ? from : Number(after.slice(1)) - 1;
    const items = Array.from({ length: Math.min(10, first) }, (_, index) => job(id(first - index)));
    return Promise.resolve({ items, next: first > 10 ? (items.at(-1)?.id ?? null) : null });
  };
  return { asked, list: createJobList({ load, matches, lingerMs: 1000, most }) };
}

function push(...rows: Job[]): void {
  receive(rows.map((row) => jobMessage(row)));
  flushLive();
}

describe("a live list", () => {
  let list: JobList;
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    list.dispose();
    setLiveStatus("off");
    vi.useRealTimers();
    expect(heldCount()).toBe(0);
  });

  const shown = (): string[] => list.rows.value.map((row) => row.id);

  it("reads page after page and knows when it is complete", async () => {
    ({ list } = source(25));
    await list.loadMore();
    expect(list.complete.value).toBe(false);
    await list.loadMore();
    await list.loadMore();
    expect(list.rows.value).toHaveLength(25);
    expect(list.complete.value).toBe(true);
  });

  it("changes rows in place", async () => {
    ({ list } = source(3));
    await list.loadMore();
    const row = list.rows.value[1];
    push(job(id(2), { state: "running", seq: 5 }));
    expect(list.rows.value[1]).toBe(row);
    expect(row?.state).toBe("running");
  });

  it("puts a new job on top while the reader is there", async () => {
    ({ list } = source(3));
    await list.loadMore();
    push(job(id(5)), job(id(4)));
    expect(shown()).toEqual([id(5), id(4), id(3), id(2), id(1)]);
  });

  it("leaves out a job that came and left its filter in one batch", async () => {
    ({ list } = source(3, (row) => row.state === "queued"));
    await list.loadMore();
    push(job(id(4), { state: "queued", seq: 1 }), job(id(4), { state: "running", seq: 2 }));
    expect(shown()).toEqual([id(3), id(2), id(1)]);
  });

  it("takes what was pushed while a page was on its way", async () => {
    let answer: (page: JobPage) => void = () => undefined;
    list = createJobList({
      load: () => new Promise((resolve) => (answer = resolve)),
      matches: (row) => row.state === "queued",
      lingerMs: 1000,
    });
    const loading = list.loadMore();
    push(job(id(2), { state: "running", seq: 5 }), job(id(4)), job(id(5)));
    receive([{ id: "", event: "deleted", data: JSON.stringify({ id: id(5) }) }]);
    flushLive();
    answer({ items: [job(id(3)), job(id(2)), job(id(1))], next: null });
    await loading;
    expect(shown()).toEqual([id(4), id(3), id(2), id(1)]);
    expect(list.leaving.value.has(id(2))).toBe(true);
    vi.advanceTimersByTime(1000);
    expect(shown()).toEqual([id(4), id(3), id(1)]);
  });

  it("keeps new jobs behind the pill while the reader is elsewhere", async () => {
    ({ list } = source(3));
    await list.loadMore();
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
    ({ list } = source(25));
    await list.loadMore();
    push(job(id(7), { state: "running", seq: 2 }));
    expect(shown()).not.toContain(id(7));
  });

  it("takes in an older job that comes to match, in its place", async () => {
    const states = new Set(["running"]);
    list = createJobList({
      load: () =>
        Promise.resolve({ items: [job(id(9), { state: "running" }), job(id(5), { state: "running" })], next: null }),
      matches: (row) => states.has(row.state),
    });
    await list.loadMore();
    push(job(id(7), { state: "running", seq: 3 }));
    expect(shown()).toEqual([id(9), id(7), id(5)]);
  });

  it("dims a row that no longer matches, and lets it go after a moment", async () => {
    ({ list } = source(3, (row) => row.state === "queued"));
    await list.loadMore();
    push(job(id(2), { state: "running", seq: 2 }));
    expect(list.leaving.value.has(id(2))).toBe(true);
    expect(shown()).toContain(id(2));
    await vi.advanceTimersByTimeAsync(1100);
    expect(shown()).toEqual([id(3), id(1)]);
  });

  it("keeps a row that matches again before it was gone", async () => {
    ({ list } = source(3, (row) => row.state === "queued"));
    await list.loadMore();
    push(job(id(2), { state: "running", seq: 2 }));
    push(job(id(2), { state: "queued", seq: 3 }));
    await vi.advanceTimersByTimeAsync(2000);
    expect(shown()).toContain(id(2));
  });

  it("drops deleted jobs at once", async () => {
    ({ list } = source(3));
    await list.loadMore();
    receive([{ id: "t", event: "deleted", data: JSON.stringify({ id: id(2) }) }]);
    flushLive();
    expect(shown()).toEqual([id(3), id(1)]);
  });

  it("loads as many pages again as it shows when the stream was reset", async () => {
    const made = source(40);
    list = made.list;
    await list.loadMore();
    await list.loadMore();
    made.asked.length = 0;
    receive([{ id: "t", event: "reset", data: "{}" }]);
    flushLive();
    await vi.advanceTimersByTimeAsync(0);
    expect(made.asked).toEqual([null, id(31)]);
    expect(list.rows.value).toHaveLength(20);
  });

  it("drops rows from the end when it grows too long at the top, and can load them again", async () => {
    ({ list } = source(60, () => true, 24));
    await list.loadMore();
    await list.loadMore();
    push(...Array.from({ length: 10 }, (_, index) => job(id(61 + index))));
    expect(list.rows.value.length).toBeLessThan(24);
    const last = shown().at(-1);
    await list.loadMore();
    expect(shown()[shown().indexOf(last ?? "") + 1]).toBe(id(Number(last?.slice(1)) - 1));
  });

  it("never grows beyond its cap, and lets go of what it drops", async () => {
    list = createJobList({
      load: () => Promise.resolve({ items: [job(id(2)), job(id(1))], next: null }),
      matches: () => true,
      cap: 3,
    });
    await list.loadMore();
    push(...Array.from({ length: 50 }, (_, index) => job(id(10 + index))));
    expect(shown()).toEqual([id(59), id(58), id(57)]);
    expect(heldCount()).toBe(3);
  });

  it("stops looking by itself after many pages without a match", async () => {
    let pages = 0;
    list = createJobList({ load: () => Promise.resolve({ items: [], next: `p${(pages += 1)}` }), matches: () => true });
    while (!list.barren.value) await list.loadMore();
    expect(pages).toBe(12);
    await list.loadMore();
    expect(list.barren.value).toBe(false);
  });

  it("tells why a page could not be loaded, and recovers", async () => {
    let fails = true;
    list = createJobList({
      load: () => (fails ? Promise.reject(new Error("no")) : Promise.resolve({ items: [job(id(1))], next: null })),
      matches: () => true,
    });
    await list.loadMore();
    expect(list.error.value?.detail).toBe("no");
    fails = false;
    await list.reload();
    expect(list.error.value).toBeNull();
    expect(shown()).toEqual([id(1)]);
  });
});
