// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { effectScope, type EffectScope } from "vue";
import type { Recording, RecordingDetail } from "@/api/types";
import { useRecording, type RecordingView } from "@/composables/useRecording";
import { flushLive, receive } from "@/stores/live";
import { recording } from "./recordingRows";
import { event, job, jobMessage, recordingMessage } from "./rows";

const ID = "rec";

function detail(change: Partial<RecordingDetail> = {}): RecordingDetail {
  const running = { id: "job", job_status: "processing", progress: { current: 0, total: 60 } };
  return {
    id: ID,
    title: "Talk",
    status: "PROCESSING",
    job: running,
    jobs: [running],
    transcript: null,
    ...change,
  } as never;
}

/** A server with one recording; `answers` is what it says of it now, null: there is none. */
const server = { asked: [] as string[], answer: detail() as RecordingDetail | null };

function fetched(request: Request): Promise<Response> {
  const path = new URL(request.url).pathname;
  server.asked.push(path);
  const body = path.endsWith("/transcript") ? { segments: [], unplaced_edits: [] } : server.answer;
  const status = body ? 200 : 404;
  const headers = { "Content-Type": "application/json" };
  return Promise.resolve(new Response(JSON.stringify(body ?? { title: "none", status }), { status, headers }));
}

function push(id: string, change: Partial<Recording> = {}): void {
  receive([recordingMessage(recording(id, change))]);
  flushLive();
}

describe("a recording that is looked at", () => {
  let scope: EffectScope;
  let view: RecordingView;
  const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

  beforeEach(async () => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", fetched);
    [server.asked, server.answer] = [[], detail()];
    scope = effectScope();
    view = scope.run(() => useRecording(ID)) as RecordingView;
    await settle();
    server.asked.length = 0;
  });
  afterEach(() => {
    scope.stop();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("shows its row as it is pushed, and asks for the rest only when more than progress changed", async () => {
    const running = { ...detail().job, progress: { current: 30, total: 60 } } as Recording["job"];
    push(ID, { status: "PROCESSING", job: running });
    expect(view.recording.value?.job?.progress?.current).toBe(30);
    await settle(300);
    server.asked.length = 0;
    const further = { ...running, progress: { current: 31, total: 60 } } as Recording["job"];
    push(ID, { status: "PROCESSING", job: further });
    expect(view.recording.value?.job?.progress?.current).toBe(31);
    expect(view.recording.value?.jobs).toHaveLength(1);
    await settle(5000);
    expect(server.asked).toEqual([`/api/recordings/${ID}/transcript`]); // what was heard meanwhile
    server.asked.length = 0;
    push(ID, { status: "COMPLETED", job: further, has_transcript: true });
    expect(view.live.value).toBe(false);
    await settle(300);
    expect(server.asked).toEqual([`/api/recordings/${ID}`]);
  });

  it("asks for the text as it grows only where there is none yet", async () => {
    server.answer = detail({ transcript: { id: "t" } as never });
    await view.reload();
    await settle();
    server.asked.length = 0;
    const running = { ...detail().job, progress: { current: 30, total: 60 } } as Recording["job"];
    push(ID, { status: "PROCESSING", job: running });
    await settle(300);
    expect(server.asked).not.toContain(`/api/recordings/${ID}/transcript`);
  });

  it("asks nothing for what happens to jobs: what that means for it is told of it", async () => {
    receive([jobMessage(job("job", { operation: "transcribe", key: ID, seq: 2 }), [event("job", 2, "job.succeeded")])]);
    receive([{ id: "1", event: "deleted", data: JSON.stringify({ id: "job" }) }]);
    flushLive();
    await settle(5000);
    expect(server.asked).toEqual([]);
  });

  it("asks for estimates by the clock, and only while something is under way", async () => {
    await settle(9000);
    expect(server.asked).toEqual([]);
    server.answer = detail({ status: "COMPLETED" });
    await settle(1000);
    expect(server.asked).toEqual([`/api/recordings/${ID}`]);
    await settle(10 * 60_000);
    expect(server.asked).toHaveLength(1);
  });

  it("asks soon when it is done, once for many messages, and gets the transcript", async () => {
    server.answer = detail({ status: "COMPLETED", transcript: { id: "t" } as never });
    push(ID, { status: "PROCESSING", job: detail().job });
    push(ID, { status: "PROCESSING", job: detail().job, duration: 60 });
    push(ID, { status: "COMPLETED", has_transcript: true });
    await settle(300);
    expect(server.asked).toEqual([`/api/recordings/${ID}`, `/api/recordings/${ID}/transcript`]);
    expect(view.live.value).toBe(false);
    await settle(10_000);
    expect(server.asked).toHaveLength(2);
  });

  it("asks for its place in line when somebody else's moved, but not once it is done", async () => {
    push("another recording", { status: "COMPLETED" });
    await settle(3000);
    expect(server.asked).toHaveLength(1);
    server.answer = detail({ status: "COMPLETED" });
    await view.reload();
    server.asked.length = 0;
    push("a third one", { status: "COMPLETED" });
    await settle(10_000);
    expect(server.asked).toEqual([]);
  });

  it("notices that it was transcribed anew from another place", async () => {
    server.answer = detail({ status: "COMPLETED", transcript: { id: "t1" } as never });
    await view.reload();
    server.answer = detail({ status: "COMPLETED", transcript: { id: "t2" } as never });
    server.asked.length = 0;
    push(ID, { status: "COMPLETED", has_transcript: true });
    await settle(300);
    expect(server.asked).toContain(`/api/recordings/${ID}/transcript`);
  });

  it("is gone when the server says so after it was there", async () => {
    server.answer = null;
    push(ID, { status: "FAILED" });
    await settle(300);
    expect(view.deleted.value).toBe(true);
  });

  it("is gone when that is pushed, without a question", () => {
    receive([{ id: "1", event: "recording.deleted", data: JSON.stringify({ id: ID }) }]);
    flushLive();
    expect(view.deleted.value).toBe(true);
  });

  it("lets an answer that was overtaken be", async () => {
    let release: (answer: Response) => void = () => undefined;
    const slow = new Promise<Response>((resolve) => (release = resolve));
    vi.stubGlobal("fetch", () => slow);
    const first = view.reload();
    vi.stubGlobal("fetch", fetched);
    server.answer = detail({ title: "Newer" });
    await view.reload();
    release(new Response(JSON.stringify(detail({ title: "Older" })), { headers: { "Content-Type": "application/json" } }));
    await first;
    expect(view.recording.value?.title).toBe("Newer");
  });
});
