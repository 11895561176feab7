// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { effectScope, nextTick, ref, type EffectScope } from "vue";
import type { Recording } from "@/api/types";
import type { Pages } from "@/composables/usePages";
import { useRecordings } from "@/composables/useRecordings";
import { endingOf } from "@/services/notices";
import type { RecordingFilter } from "@/services/recordingList";
import type { HeardRecording } from "@/services/recordings/news";
import { unify, type UnifiedItem } from "@/services/uploads/unify";
import { flushLive, receive, setLiveStatus } from "@/stores/live";
import { unified, useUnified } from "@/stores/unified";
import { uploads } from "@/stores/uploads";
import { recording, told, upload } from "./recordingRows";
import { event, job, jobMessage, recordingMessage } from "./rows";

/** What the server says of recordings now, and which of its addresses were asked. */
const server = { rows: [] as Recording[], asked: [] as string[] };

function fetched(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  server.asked.push(pathname + search);
  const body = pathname.endsWith("/job-queue-status")
    ? { jobs: [], recordings: server.rows }
    : { items: server.rows, next: null };
  return Promise.resolve(new Response(JSON.stringify(body), { headers: { "Content-Type": "application/json" } }));
}

function push(...rows: Recording[]): void {
  receive(rows.map(recordingMessage));
  flushLive();
}

const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
let scope: EffectScope;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", fetched);
  Object.assign(server, { rows: [told("r1", "PENDING", { position: 2 })], asked: [] });
  scope = effectScope();
});
afterEach(() => {
  scope.stop();
  setLiveStatus("off");
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("the list of recordings", () => {
  const filter = ref<RecordingFilter>({ text: "", tag: "", status: [] });

  async function open(): Promise<Pages<HeardRecording>> {
    const list = scope.run(() => useRecordings(() => filter.value)) as Pages<HeardRecording>;
    await settle();
    server.asked.length = 0;
    return list;
  }

  it("shows a row as it is pushed, and asks nothing for progress", async () => {
    const list = await open();
    push(told("r1", "PROCESSING", { progress: { current: 1, total: 9 } }));
    await settle(1000);
    expect(server.asked).toHaveLength(1);
    push(told("r1", "PROCESSING", { progress: { current: 3, total: 9 }, eta_seconds: [4, 8] }));
    expect(list.items.value?.[0]).toMatchObject({ status: "PROCESSING", job: { progress: { current: 3 } } });
    await settle(5000);
    expect(server.asked).toHaveLength(1);
  });

  it("shows what the server says, also where the job looks otherwise", async () => {
    const list = await open();
    push(told("r1", "PENDING", { job_status: "processing" }));
    expect(list.items.value?.[0]?.status).toBe("PENDING");
    push(told("r1", "SUMMARIZING", { job_status: "queued", queue_type: "summary" }));
    expect(list.items.value?.[0]?.status).toBe("SUMMARIZING");
  });

  it("counts estimates on from when each row was told", async () => {
    const list = await open();
    await settle(4000);
    push(told("r1", "PENDING", { position: 1, eta_seconds: [5, 9] }));
    expect(list.items.value?.[0]?.heardAt).toBe(Date.now());
  });

  it("asks for the new places in line when something moved", async () => {
    const list = await open();
    server.rows = [told("r1", "PENDING", { position: 1 })];
    push(told("r1", "PENDING", { position: 2 }));
    await settle(1000);
    expect(server.asked).toHaveLength(1);
    expect(list.items.value?.[0]?.job?.position).toBe(1);
  });

  it("keeps what was pushed while an older answer was on its way", async () => {
    const list = await open();
    void list.reload();
    push(told("r1", "PROCESSING"));
    await settle();
    expect(list.items.value?.[0]?.status).toBe("PROCESSING");
  });

  it("asks at once for a recording that it does not know, and for many of them once", async () => {
    await open();
    push(recording("r7"));
    await settle(200);
    push(recording("r8"), recording("r9"));
    await settle(100);
    expect(server.asked).toHaveLength(1);
    await settle(5000);
    expect(server.asked).toHaveLength(1);
  });

  it("does not ask again and again about a recording that its filter leaves out", async () => {
    await open();
    push(told("r7", "PROCESSING", { progress: { current: 1, total: 9 } }));
    await settle(300);
    push(told("r7", "PROCESSING", { progress: { current: 2, total: 9 } }));
    await settle(5000);
    expect(server.asked).toHaveLength(1);
  });

  it("lets go of a row that is gone, also if an older answer still has it", async () => {
    const list = await open();
    void list.reload();
    receive([{ id: "t", event: "recording.deleted", data: '{"id":"r1"}' }]);
    flushLive();
    await settle();
    expect(list.items.value).toEqual([]);
  });

  it("asks nothing for what happens to jobs: what that means for a recording is told of the recording", async () => {
    await open();
    const started = event("j-r1", 2, "job.started");
    receive([jobMessage(job("j-r1", { operation: "transcribe", key: "r1", seq: 2 }), [started])]);
    receive([{ id: "t", event: "deleted", data: '{"id":"j-r0"}' }]);
    flushLive();
    await settle(5000);
    expect(server.asked).toEqual([]);
  });

  it("asks for estimates by the clock while something is under way", async () => {
    const list = await open();
    server.rows = [told("r1", "COMPLETED")];
    await settle(10_000);
    expect(server.asked).toHaveLength(1);
    expect(list.items.value?.[0]?.status).toBe("COMPLETED");
    await settle(60_000);
    expect(server.asked).toHaveLength(1);
  });

  it("asks with its filter", async () => {
    await open();
    filter.value = { text: "talk", tag: "", status: ["FAILED"] };
    await nextTick();
    expect(server.asked).toEqual(["/api/recordings?text=talk&status=FAILED&limit=50"]);
  });
});

describe("what is going on with the reader's recordings", () => {
  const ended: UnifiedItem[][] = [];

  async function open(): Promise<void> {
    ended.length = 0;
    scope.run(() => useUnified((items) => ended.push(items)));
    await settle();
    server.asked.length = 0;
  }

  it("is shown as it is pushed, and an end is told once", async () => {
    await open();
    push(told("r1", "PROCESSING"));
    await nextTick();
    expect(unified.value[0]?.status).toBe("PROCESSING");
    server.rows = [told("r1", "COMPLETED")];
    push(told("r1", "COMPLETED"));
    await settle(5000);
    expect(ended.map((items) => items.map((item) => item.recordingId))).toEqual([["r1"]]);
  });

  it("says nothing of what had ended before", async () => {
    server.rows = [told("r1", "COMPLETED")];
    await open();
    await settle(5000);
    expect(unified.value[0]?.status).toBe("COMPLETED");
    expect(ended).toEqual([]);
  });

  it("says nothing of a file of an earlier visit that was done before the first answer", async () => {
    server.rows = [told("r1", "COMPLETED")];
    const opening = open();
    uploads.value = [upload("x", { recordingId: "r1" })];
    await nextTick();
    await opening;
    await settle(900);
    uploads.value = [];
    await nextTick();
    expect(unified.value[0]?.status).toBe("COMPLETED");
    expect(ended).toEqual([]);
  });

  it("leaves it to the server whether a pushed recording is the reader's", async () => {
    await open();
    push(told("somebody's", "PENDING"));
    expect(unified.value.map((item) => item.recordingId)).toEqual(["r1"]);
    await settle(900);
    expect(server.asked).toHaveLength(1);
  });

  it("is asked for in a hidden tab too, because somebody waits to be told", async () => {
    await open();
    vi.spyOn(document, "hidden", "get").mockReturnValue(true);
    push(told("r1", "PROCESSING"));
    await settle(900);
    expect(server.asked).toHaveLength(1);
    vi.restoreAllMocks();
  });
});

describe("the message about what ended", () => {
  const ended = (id: string, status: "COMPLETED" | "FAILED") =>
    told(id, status, { error_message: status === "FAILED" ? "no audio" : null });

  it("names the one that did, and why it failed", () => {
    expect(endingOf(unify([ended("a", "COMPLETED")], []))).toMatchObject({ text: "Recording a is done", bad: false });
    expect(endingOf(unify([ended("a", "FAILED")], []))).toMatchObject({ text: "Recording a failed", detail: "no audio" });
  });

  it("is one for many", () => {
    const many = ["a", "b", "c", "d"].map((id) => ended(id, "COMPLETED"));
    const message = endingOf(unify([...many, ended("e", "FAILED")], []));
    expect(message).toMatchObject({ text: "4 recordings are done, 1 failed", bad: false, recordingId: null });
    expect(message?.detail).toMatch(/and 2 more$/);
    expect(endingOf([])).toBeNull();
  });
});
