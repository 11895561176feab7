import { describe, expect, it } from "vitest";
import { JobBoard } from "@/services/uploads/board";
import { endings, inView, unify } from "@/services/uploads/unify";
import { STATUSES, speaker, statusOfJob, viewOf } from "@/services/recordings/status";
import { job } from "./rows";
import { processing, upload } from "./recordingRows";

const keys = (items: { key: string }[]): string[] => items.map((item) => item.key);

describe("one list of everything", () => {
  it("keys recordings by their id and files by the browser's", () => {
    expect(keys(unify([processing("j1", "a")], [upload("x")]))).toEqual(["client_x", "rec_a"]);
  });

  it("lists a recording once, however many jobs it has, and lets what is under way speak", () => {
    const done = processing("j1", "a", { job_status: "completed" });
    const summing = processing("j2", "a", { job_status: "processing", job_type: "summarize", queue_type: "summary" });
    const items = unify([summing, done], []);
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ key: "rec_a", status: "summarizing", jobId: "j2" });
  });

  it("makes an upload that got its recording's id that row, without a second one", () => {
    const before = unify([], [upload("x", { handingOver: true })]);
    const after = unify([processing("j1", "a")], [upload("x", { recordingId: "a" })]);
    expect(keys(before)).toEqual(["client_x"]);
    expect(keys(after)).toEqual(["rec_a"]);
    expect(after[0]?.place).toBe(before[0]?.place);
  });

  it("keeps the row's place after the upload is forgotten", () => {
    const items = unify([processing("j1", "a")], [], new Map([["a", "x"]]));
    expect(items[0]).toMatchObject({ key: "rec_a", place: "client_x", upload: null });
  });

  it("believes the server about status, title and error, whatever the upload says", () => {
    const failed = processing("j1", "a", { job_status: "failed", error_message: "no audio", recording_title: "Renamed" });
    const [item] = unify([failed], [upload("x", { recordingId: "a", status: "uploading" })]);
    expect(item).toMatchObject({ status: "failed", title: "Renamed", clientId: "x" });
  });

  it("shows an upload whose id came before the server's answer as waiting in line", () => {
    const [item] = unify([], [upload("x", { recordingId: "a", jobId: "j1" })]);
    expect(item).toMatchObject({ key: "rec_a", status: "queued", jobId: "j1" });
  });

  it("shows nothing of a recording that was deleted", () => {
    expect(unify([], [])).toEqual([]);
  });

  it("sorts by status first, the line by place, what ended newest first", () => {
    const jobs = [
      processing("j1", "done-old", { job_status: "completed", completed_at: "2026-11-16T10:00:00Z" }),
      processing("j2", "done-new", { job_status: "completed", completed_at: "2026-11-16T11:00:00Z" }),
      processing("j3", "third", { position: 3 }),
      processing("j4", "second", { position: 2 }),
      processing("j5", "heard", { job_status: "processing" }),
      processing("j6", "broken", { job_status: "failed" }),
    ];
    const files = [upload("staged", { status: "ready" }), upload("sent"), upload("stuck", { status: "upload_failed" })];
    expect(keys(unify(jobs, files))).toEqual([
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
    const items = unify([processing("j1", "a", { job_status: "failed" }), processing("j2", "b")], [upload("x")]);
    expect(keys(inView(items, "active"))).toEqual(["client_x", "rec_b"]);
    expect(keys(inView(items, "failed"))).toEqual(["rec_a"]);
    expect(STATUSES.map(viewOf)).not.toContain(undefined);
  });
});

describe("what ended", () => {
  const live = unify([processing("j1", "a", { job_status: "processing" })], []);

  it("is told once, when it was under way before", () => {
    const over = unify([processing("j1", "a", { job_status: "completed" })], []);
    expect(keys(endings(live, over))).toEqual(["rec_a"]);
    expect(endings(over, over)).toEqual([]);
  });

  it("is not told of what was over when the page was opened, nor of what was cancelled", () => {
    expect(endings([], unify([processing("j1", "a", { job_status: "completed" })], []))).toEqual([]);
    expect(endings(live, unify([processing("j1", "a", { job_status: "cancelled" })], []))).toEqual([]);
  });

  it("is told of an upload that was a file when last looked at", () => {
    const sent = unify([], [upload("x")]);
    const over = unify([processing("j1", "a", { job_status: "completed" })], [], new Map([["a", "x"]]));
    expect(keys(endings(sent, over))).toEqual(["rec_a"]);
  });
});

describe("the status of a recording", () => {
  it.each([
    ["queued", "transcription", "queued"],
    ["processing", "transcription", "transcribing"],
    ["queued", "summary", "summarizing"],
    ["processing", "summary", "summarizing"],
    ["completed", "transcription", "completed"],
    ["failed", "summary", "failed"],
    ["cancelled", "transcription", "cancelled"],
    ["cancelled", "summary", "completed"],
  ] as const)("of a %s job of %s is %s", (job_status, queue_type, status) => {
    expect(statusOfJob({ job_status, queue_type })).toBe(status);
  });

  it("comes from the newest job when none is under way", () => {
    const jobs = [processing("j2", "a", { job_status: "failed" }), processing("j1", "a", { job_status: "completed" })];
    expect(speaker(jobs)?.id).toBe("j2");
    expect(speaker([])).toBeNull();
  });
});

describe("the board of jobs", () => {
  const running = job("j1", { operation: "transcribe", key: "a", state: "running", seq: 5 });

  function asked(board: JobBoard, ...jobs: ReturnType<typeof processing>[]): void {
    board.answer(board.ask(), jobs);
  }

  it("moves a job that is pushed, and says whether its place is worth asking for", () => {
    const board = new JobBoard();
    asked(board, processing("j1", "a", { position: 2, eta_seconds: [1, 2] }));
    expect(board.push([running])).toBe(true);
    expect(board.jobs[0]).toMatchObject({ job_status: "processing", position: null, eta_seconds: null });
    const further = { ...running, seq: 6, progress: { current: 3, total: 9 } } as typeof running;
    expect(board.push([further])).toBe(false);
    expect(board.jobs[0]?.progress).toEqual({ current: 3, total: 9 });
  });

  it("keeps what was pushed while an older answer was on its way", () => {
    const board = new JobBoard();
    const round = board.ask();
    board.push([running]);
    board.answer(round, [processing("j1", "a")]);
    expect(board.jobs[0]?.job_status).toBe("processing");
  });

  it("believes an answer to a question that was asked after the push", () => {
    const board = new JobBoard();
    asked(board, processing("j1", "a"));
    board.push([running]);
    asked(board, processing("j1", "a", { job_status: "completed" }));
    expect(board.jobs[0]?.job_status).toBe("completed");
  });

  it("does not bring back a job that was deleted while an answer was on its way", () => {
    const board = new JobBoard();
    asked(board, processing("j1", "a"));
    const round = board.ask();
    expect(board.drop(["j1", "unknown"])).toBe(true);
    board.answer(round, [processing("j1", "a")]);
    expect(board.jobs).toEqual([]);
  });

  it("ignores the answer to an older question", () => {
    const board = new JobBoard();
    const first = board.ask();
    asked(board, processing("j2", "b"));
    board.answer(first, [processing("j1", "a")]);
    expect(board.jobs.map((one) => one.id)).toEqual(["j2"]);
  });

  it("never goes back to an older row", () => {
    const board = new JobBoard();
    asked(board, processing("j1", "a"));
    board.push([{ ...running, state: "succeeded", seq: 9 }, running]);
    expect(board.jobs[0]?.job_status).toBe("completed");
  });

  it("knows a summary by its recording before anybody asked for it", () => {
    const board = new JobBoard();
    asked(board, processing("j1", "a", { job_status: "processing" }));
    board.push([
      job("j1", { operation: "transcribe", key: "a", state: "succeeded", seq: 9 }),
      job("j2", { operation: "summarize", key: "a", state: "queued" }),
    ]);
    expect(unify(board.jobs, [])).toMatchObject([{ key: "rec_a", status: "summarizing", jobId: "j2" }]);
  });

  it("leaves jobs of other people and other operations alone, but asks about new ones", () => {
    const board = new JobBoard();
    asked(board);
    expect(board.push([job("j7", { operation: "resize" }), job("j8", { operation: "transcribe.windows" })])).toBe(false);
    expect(board.push([job("j9", { operation: "transcribe", key: "z" })])).toBe(true);
    expect(board.jobs).toEqual([]);
  });

  it("takes a job whose children have run for one in the middle of things", () => {
    const board = new JobBoard();
    asked(board, processing("j1", "a", { job_status: "processing" }));
    const children = { total: 2, open: 0, succeeded: 2, partial: 0, failed: 0 };
    board.push([{ ...running, state: "queued", children, seq: 7 }]);
    expect(board.jobs[0]?.job_status).toBe("processing");
  });
});
