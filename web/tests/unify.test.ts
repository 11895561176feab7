import { describe, expect, it } from "vitest";
import { wordsOf } from "@/services/uploads/messages";
import { endings, inView, unify } from "@/services/uploads/unify";
import { STATUS, viewOf, type UnifiedStatus } from "@/services/recordings/status";
import { recording, told, upload } from "./recordingRows";
import { heard } from "@/services/recordings/news";

const keys = (items: { key: string }[]): string[] => items.map((item) => item.key);

describe("one list of everything", () => {
  it("keys recordings by their id and files by the browser's", () => {
    expect(keys(unify([told("a", "PENDING")], [upload("x")]))).toEqual(["client_x", "rec_a"]);
  });

  it("says of a recording what the server says, whatever its job looks like", () => {
    const parked = told("a", "PENDING", { id: "j2", job_status: "processing" });
    expect(unify([parked], [])[0]).toMatchObject({ key: "rec_a", status: "PENDING", jobId: "j2" });
    expect(unify([heard(recording("a", { status: "COMPLETED" }))], [])[0]).toMatchObject({
      status: "COMPLETED",
      jobId: null,
    });
  });

  it("makes an upload that got its recording's id that row, without a second one", () => {
    const before = unify([], [upload("x", { handingOver: true })]);
    const after = unify([told("a", "PENDING")], [upload("x", { recordingId: "a" })]);
    expect(keys(before)).toEqual(["client_x"]);
    expect(keys(after)).toEqual(["rec_a"]);
    expect(after[0]?.place).toBe(before[0]?.place);
  });

  it("keeps the row's place after the upload is forgotten", () => {
    const items = unify([told("a", "PENDING")], [], new Map([["a", "x"]]));
    expect(items[0]).toMatchObject({ key: "rec_a", place: "client_x", upload: null });
  });

  it("believes the server about status and title, whatever the upload says", () => {
    const failed = { ...told("a", "FAILED", { error_message: "no audio" }), title: "Renamed" };
    const [item] = unify([failed], [upload("x", { recordingId: "a", status: "uploading" })]);
    expect(item).toMatchObject({ status: "FAILED", title: "Renamed", clientId: "x" });
  });

  it("shows an upload whose id came before the server's answer as still on its way", () => {
    const [item] = unify([], [upload("x", { recordingId: "a", jobId: "j1" })]);
    expect(item).toMatchObject({ key: "rec_a", status: "uploading", jobId: "j1" });
    expect(item && wordsOf(item, { reachable: true, now: 0 }).message).toBe("All there, being handed over");
  });

  it("believes the server about what needs a retry, whatever its status", () => {
    const stopped = (item: { stopped: boolean }): boolean => item.stopped;
    expect(unify([{ ...told("a", "COMPLETED"), needs_retry: true }], []).map(stopped)).toEqual([true]);
    expect(unify([{ ...told("a", "FAILED"), needs_retry: false }], []).map(stopped)).toEqual([false]);
    expect(unify([], [upload("x", { status: "upload_failed" }), upload("y")]).map(stopped)).toEqual([false, true]);
  });

  it("shows nothing of a recording that was deleted", () => {
    expect(unify([], [])).toEqual([]);
  });

  it("sorts by status first, the line by place, what ended newest first", () => {
    const recordings = [
      told("done-old", "COMPLETED", { completed_at: "2026-11-16T10:00:00Z" }),
      told("done-new", "COMPLETED", { completed_at: "2026-11-16T11:00:00Z" }),
      told("third", "PENDING", { position: 3 }),
      told("second", "PENDING", { position: 2 }),
      told("heard", "PROCESSING"),
      told("broken", "FAILED"),
    ];
    const files = [upload("staged", { status: "ready" }), upload("sent"), upload("stuck", { status: "upload_failed" })];
    expect(keys(unify(recordings, files))).toEqual([
      "client_sent",
      "rec_heard",
      "rec_second",
      "rec_third",
      "client_staged",
      "client_stuck",
      "rec_broken",
      "rec_done-new",
      "rec_done-old",
    ]);
  });

  it("has every status in exactly one view", () => {
    const items = unify([told("a", "FAILED"), told("b", "PENDING")], [upload("x")]);
    expect(keys(inView(items, "active"))).toEqual(["client_x", "rec_b"]);
    expect(keys(inView(items, "failed"))).toEqual(["rec_a"]);
    expect((Object.keys(STATUS) as UnifiedStatus[]).map(viewOf)).not.toContain(undefined);
  });
});

describe("what ended", () => {
  const live = unify([told("a", "PROCESSING")], []);

  it("is told once, when it was under way before", () => {
    const over = unify([told("a", "COMPLETED")], []);
    expect(keys(endings(live, over))).toEqual(["rec_a"]);
    expect(endings(over, over)).toEqual([]);
  });

  it("is not told of what was over when the page was opened, nor of what was cancelled", () => {
    expect(endings([], unify([told("a", "COMPLETED")], []))).toEqual([]);
    expect(endings(live, unify([told("a", "CANCELLED")], []))).toEqual([]);
  });

  it("is told of an upload that was a file when last looked at", () => {
    const sent = unify([], [upload("x")]);
    const over = unify([told("a", "COMPLETED")], [], new Map([["a", "x"]]));
    expect(keys(endings(sent, over))).toEqual(["rec_a"]);
  });
});
