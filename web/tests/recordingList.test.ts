// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Job, Recording } from "@/api/types";
import type { Page } from "@/services/jobs";
import { endingOf } from "@/services/notices";
import { unify } from "@/services/uploads/unify";
import { flushLive, receive, setLiveStatus } from "@/stores/live";
import { createRecordingList, type RecordingList } from "@/stores/recordings";
import { event, job, jobMessage } from "./rows";
import { processing, recording } from "./recordingRows";

function push(...rows: Job[]): void {
  receive(rows.map((row) => jobMessage(row)));
  flushLive();
}

const heard = (state: Job["state"], seq: number, change: Partial<Job> = {}): Job =>
  job("j1", { operation: "transcribe", key: "r1", state, seq, ...change });

describe("the list of recordings", () => {
  let list: RecordingList;
  let answers: Recording[];
  let asked: (string | null)[];
  beforeEach(() => {
    vi.useFakeTimers();
    answers = [recording("r1", { job: processing("j1", "r1") })];
    asked = [];
    list = createRecordingList({
      load(after) {
        asked.push(after);
        return Promise.resolve({ items: answers, next: null });
      },
      soonMs: 1000,
    });
  });
  afterEach(() => {
    list.dispose();
    setLiveStatus("off");
    vi.useRealTimers();
  });

  it("shows progress as it is pushed, without asking", async () => {
    answers = [recording("r1", { status: "PROCESSING", job: processing("j1", "r1", { job_status: "processing" }) })];
    await list.loadMore();
    push(heard("running", 5, { progress: { current: 3, total: 9 } as Job["progress"] }));
    expect(list.rows.value[0]?.job?.progress).toEqual({ current: 3, total: 9 });
    await vi.advanceTimersByTimeAsync(5000);
    expect(asked).toHaveLength(1);
  });

  it("moves a row that is begun at once, and asks for the new places in line", async () => {
    await list.loadMore();
    push(heard("running", 5));
    expect(list.rows.value[0]?.status).toBe("PROCESSING");
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(2);
  });

  it("leaves it to the server to say that a recording is done", async () => {
    answers = [recording("r1", { status: "PROCESSING", job: processing("j1", "r1", { job_status: "processing" }) })];
    await list.loadMore();
    answers = [recording("r1", { status: "SUMMARIZING", job: processing("j2", "r1", { queue_type: "summary" }) })];
    push(heard("succeeded", 9));
    expect(list.rows.value[0]?.status).toBe("PROCESSING");
    await vi.advanceTimersByTimeAsync(1000);
    expect(list.rows.value[0]?.status).toBe("SUMMARIZING");
  });

  it("keeps what was pushed while an older answer was on its way", async () => {
    let answer: (page: Page<Recording>) => void = () => undefined;
    list.dispose();
    list = createRecordingList({ load: () => new Promise((resolve) => (answer = resolve)) });
    const loading = list.loadMore();
    push(heard("running", 5));
    answer({ items: answers, next: null });
    await loading;
    expect(list.rows.value[0]?.status).toBe("PROCESSING");
  });

  it("asks at once for a recording that has just been made, and for many of them once", async () => {
    await list.loadMore();
    await vi.advanceTimersByTimeAsync(500);
    const made = (id: string): void => {
      const row = job(id, { operation: "transcribe", key: `r-${id}` });
      receive([jobMessage(row, [event(id, 1, "job.created")])]);
      flushLive();
    };
    made("j7");
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toHaveLength(2);
    made("j8");
    made("j9");
    await vi.advanceTimersByTimeAsync(100);
    expect(asked).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(3);
  });

  it("asks when a job of a recording it does not know is pushed, or one it shows is deleted", async () => {
    await list.loadMore();
    push(job("j7", { operation: "transcribe", key: "r7" }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toHaveLength(2);
    receive([{ id: "", event: "deleted", data: JSON.stringify({ id: "j1" }) }]);
    flushLive();
    answers = [];
    await vi.advanceTimersByTimeAsync(1000);
    expect(list.rows.value).toEqual([]);
  });

  it("reads page after page without showing a row twice", async () => {
    const pages: Record<string, Page<Recording>> = {
      null: { items: [recording("r3"), recording("r2")], next: "r2" },
      r2: { items: [recording("r2"), recording("r1")], next: null },
    };
    list.dispose();
    list = createRecordingList({ load: (after) => Promise.resolve(pages[String(after)] as Page<Recording>) });
    await list.loadMore();
    expect(list.complete.value).toBe(false);
    await list.loadMore();
    expect(list.rows.value.map((row) => row.id)).toEqual(["r3", "r2", "r1"]);
    expect(list.complete.value).toBe(true);
  });

  it("says why it has nothing to show, and keeps what it has while the server is away", async () => {
    let fails = true;
    list.dispose();
    list = createRecordingList({
      load: () => (fails ? Promise.reject(new Error("away")) : Promise.resolve({ items: answers, next: null })),
    });
    await list.loadMore();
    expect(list.error.value?.detail).toBe("away");
    fails = false;
    await list.reload();
    expect(list.error.value).toBeNull();
    expect(list.rows.value).toHaveLength(1);
  });
});

describe("the message about what ended", () => {
  const ended = (id: string, status: "completed" | "failed") =>
    processing(`j${id}`, id, { job_status: status, error_message: status === "failed" ? "no audio" : null });

  it("names the one that did, and why it failed", () => {
    expect(endingOf(unify([ended("a", "completed")], []))).toMatchObject({ text: "Recording a is done", bad: false });
    expect(endingOf(unify([ended("a", "failed")], []))).toMatchObject({ text: "Recording a failed", detail: "no audio" });
  });

  it("is one for many", () => {
    const many = ["a", "b", "c", "d"].map((id) => ended(id, "completed"));
    const told = endingOf(unify([...many, ended("e", "failed")], []));
    expect(told).toMatchObject({ text: "4 recordings are done, 1 failed", bad: false, recordingId: null });
    expect(told?.detail).toMatch(/and 2 more$/);
    expect(endingOf([])).toBeNull();
  });
});
