import { describe, expect, it } from "vitest";
import { refusalWords, sorted } from "@/services/uploads/checking";
import { allDone, closed, isDue, reopened } from "@/services/uploads/dock";
import { looksLikeMedia } from "@/services/uploads/dropping";
import { problemOf, sendingHelps, stuckOf } from "@/services/uploads/failing";
import { etaNow, jobMessage, ordinal, progressOf, uploadMessage, wordsOf } from "@/services/uploads/messages";
import { Pace } from "@/services/uploads/pace";
import { goesOnByItself, restorationOf } from "@/services/uploads/restoring";
import { LOST, rowOf, titleOf } from "@/services/uploads/row";
import { unify, type UnifiedItem } from "@/services/uploads/unify";
import { file, processing, told, upload } from "./recordingRows";

const away = problemOf(null, "");
const out = problemOf(401, "");
const refused = problemOf(
  422,
  JSON.stringify({ detail: "not known", remedy: "choose another", errors: [{ path: "language", message: "not known" }] }),
);

describe("a file on its way", () => {
  it("is ready until somebody wants it uploaded", () => {
    expect(rowOf(file()).status).toBe("ready");
    expect(rowOf(file({ meta: { wanted: true }, progress: { bytesUploaded: 40 } }))).toMatchObject({
      status: "uploading",
      sent: 40,
    });
  });

  it("is handed over between its last byte and its recording's id", () => {
    const whole = { uploadComplete: true, bytesUploaded: 1000 };
    expect(rowOf(file({ meta: { wanted: true }, progress: whole }))).toMatchObject({ handingOver: true, sent: 1000 });
    const made = file({ meta: { recording: { id: "a", jobId: "j" } }, progress: whole });
    expect(rowOf(made)).toMatchObject({ handingOver: false, recordingId: "a", jobId: "j" });
  });

  it("has failed when it met a problem, or when the browser could not keep it", () => {
    expect(rowOf(file({ meta: { problem: refused } }))).toMatchObject({ status: "upload_failed", problem: refused });
    expect(rowOf(file({ isGhost: true, meta: { wanted: true } })).problem).toBe(LOST);
  });

  it("is called by its title, or by its name without the ending", () => {
    expect(titleOf(upload("x", { name: "talk.final.mp3" }))).toBe("talk.final");
    expect(titleOf(upload("x", { name: ".mp3" }))).toBe(".mp3");
    const options = { ...upload("x").options, title: " Monday " };
    expect(titleOf(upload("x", { options }))).toBe("Monday");
  });
});

describe("after a reload", () => {
  it.each([
    ["a staged file waits on", file(), "leave"],
    ["an upload under way goes on", file({ meta: { wanted: true } }), "resume"],
    ["one that waited for the server goes on", file({ meta: { wanted: true, problem: away } }), "resume"],
    ["one that waited for a log-in goes on", file({ meta: { wanted: true, problem: out } }), "resume"],
    ["one that was refused waits for a person", file({ meta: { wanted: true, problem: refused } }), "leave"],
    ["one whose content is gone waits for a person", file({ isGhost: true, meta: { wanted: true } }), "leave"],
    ["one that had arrived whole is looked up", file({ progress: { uploadComplete: true } }), "look_up"],
    [
      "one whose recording is known is left alone",
      file({ progress: { uploadComplete: true }, meta: { recording: { id: "a", jobId: null } } }),
      "leave",
    ],
    [
      "what the browser did not keep may have arrived",
      file({ isGhost: true, meta: { wanted: true }, tus: { uploadUrl: "/api/uploads/a" } }),
      "look_up",
    ],
  ] as const)("%s", (_name, found, next) => expect(restorationOf(found)).toBe(next));

  it("only what waits for the server or a log-in goes on by itself", () => {
    expect(goesOnByItself(file({ meta: { problem: away } }))).toBe(true);
    expect(goesOnByItself(file({ meta: { problem: refused } }))).toBe(false);
    expect(goesOnByItself(file({ isGhost: true, meta: { problem: away } }))).toBe(false);
    expect(goesOnByItself(file())).toBe(false);
  });
});

describe("why an upload stopped", () => {
  it.each([
    [null, "network"],
    [0, "network"],
    [503, "network"],
    [429, "network"],
    [401, "login"],
    [403, "refused"],
    [413, "refused"],
    [422, "refused"],
  ] as const)("an answer of %s is %s", (status, kind) => expect(problemOf(status, "").kind).toBe(kind));

  it("is told in the server's words", () => {
    expect(refused).toEqual({ kind: "refused", text: "not known", remedy: "choose another" });
    expect(problemOf(418, "<html>").text).toBe("The server answered 418");
  });
});

describe("a file that is no recording", () => {
  const unfit = problemOf(422, JSON.stringify({ detail: "it is text, not audio", remedy: "choose audio", errors: [] }));

  it("is unfit, and does not go on by itself", () => {
    expect(unfit).toEqual({ kind: "unfit", text: "it is text, not audio", remedy: "choose audio" });
    expect(goesOnByItself(file({ meta: { problem: unfit } }))).toBe(false);
  });
});

describe("a file that is all there and that nobody takes over", () => {
  const error = { detail: "the disk is full", remedy: "retry its job", status: 500 };

  it("says why once its job has failed, and nothing before that", () => {
    expect(stuckOf({ state: "stuck", error })).toEqual({ kind: "stuck", text: "the disk is full", remedy: "retry its job" });
    expect(stuckOf({ state: "finishing", error: null })).toBeNull();
  });

  it("is looked up again and not sent again", () => {
    const stuck = file({ meta: { problem: stuckOf({ state: "stuck", error }) }, progress: { uploadComplete: true } });
    expect(rowOf(stuck).status).toBe("upload_failed");
    expect(restorationOf(stuck)).toBe("look_up");
    expect([sendingHelps(stuck.meta.problem), sendingHelps(refused), sendingHelps(null)]).toEqual([false, true, true]);
  });
});

describe("what is refused at once", () => {
  const files = [
    { name: "empty.mp3", size: 0 },
    { name: "large.wav", size: 2 * 1024 * 1024 },
    { name: "one.mp3", size: 700 },
    { name: "two.mp3", size: 700 },
  ];

  it("is what is empty, too large, or more than there is room for", () => {
    const { good, refused: turned } = sorted(files, { most: 1024 * 1024, room: 1000 });
    expect(good.map((one) => one.name)).toEqual(["one.mp3"]);
    expect(turned.map((one) => one.name)).toEqual(["empty.mp3", "large.wav", "two.mp3"]);
    expect(turned[1]?.why).toBe("it has 2.0 MiB, and this server takes files of at most 1.0 MiB");
    expect(turned[2]?.why).toBe("it has 700 B, and there is room for 300 B more");
  });

  it("is only what is empty where no limit is known", () => {
    expect(sorted(files, { most: null, room: null }).refused.map((one) => one.name)).toEqual(["empty.mp3"]);
  });

  it("is told by name, and briefly when there are many", () => {
    const many = Array.from({ length: 5 }, (_, at) => ({ name: `${at}.mp3`, why: "it is empty" }));
    expect(refusalWords(many.slice(0, 1)).text).toBe("0.mp3 was not taken");
    expect(refusalWords(many)).toMatchObject({ text: "5 files were not taken" });
    expect(refusalWords(many).detail).toMatch(/and 2 more$/);
  });

  it("takes from a folder only what looks like a recording", () => {
    expect(looksLikeMedia("talk.MP3", "")).toBe(true);
    expect(looksLikeMedia("talk", "audio/mpeg")).toBe(true);
    expect(looksLikeMedia(".DS_Store", "")).toBe(false);
    expect(looksLikeMedia("notes.txt", "text/plain")).toBe(false);
  });
});

describe("the line under a title", () => {
  it("counts places as people do", () => {
    expect([1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal)).toEqual([
      "1st",
      "2nd",
      "3rd",
      "4th",
      "11th",
      "12th",
      "13th",
      "21st",
      "102nd",
      "111th",
    ]);
  });

  it("says place and estimate, or why there is none", () => {
    const third = processing("j", "a", { position: 3, eta_seconds: [240, 240] });
    expect(jobMessage(third)).toBe("3rd in line, about 4 m to go");
    expect(jobMessage({ ...third, eta_seconds: null, waiting_for: "no speed is known yet" })).toBe(
      "3rd in line: no speed is known yet",
    );
    expect(jobMessage({ ...third, position: 1, eta_seconds: null })).toBe("Next in line");
    expect(jobMessage({ ...third, position: 1000, position_is_more: true, eta_seconds: null })).toBe("Over 1,000 before it");
    expect(jobMessage({ ...third, position: null, eta_seconds: null, waiting_for: "the queue is paused" })).toBe(
      "The queue is paused",
    );
    expect(jobMessage({ ...third, position: null, eta_seconds: null })).toBe("Waits its turn");
  });

  it("counts seconds of audio while transcribing", () => {
    const heard = processing("j", "a", { job_status: "processing", progress: { current: 65, total: 600 } });
    expect(jobMessage(heard)).toBe("1:05 of 10:00");
    expect(jobMessage({ ...heard, eta_seconds: [60, 120] })).toBe("1:05 of 10:00, about 1 to 2 m left");
    expect(jobMessage({ ...heard, progress: null })).toBe("The audio is being read");
    expect(jobMessage({ ...heard, waiting_for: "the queue is paused" })).toBe("1:05 of 10:00: the queue is paused");
  });

  it("says how long a summary still takes, or why nobody knows", () => {
    const written = processing("j", "a", { job_status: "processing", queue_type: "summary" });
    expect(jobMessage({ ...written, eta_seconds: [2, 30] })).toBe("The summary is being written, about 2 to 30 s left");
    expect(jobMessage({ ...written, waiting_for: "no live worker" })).toBe("The summary is being written: no live worker");
  });

  it("lets an estimate run down with the clock, and go when it has passed", () => {
    expect(etaNow([10, 30], 20_000)).toEqual([0, 10]);
    expect(etaNow([10, 30], 31_000)).toBeNull();
    expect(etaNow(null, 0)).toBeNull();
  });

  it("counts bytes while uploading, and says when it waits", () => {
    const half = upload("x", { size: 2048, sent: 1024 });
    expect(uploadMessage(half, true)).toBe("1.0 KiB of 2.0 KiB");
    expect(uploadMessage({ ...half, pace: 102.4 }, true)).toBe("1.0 KiB of 2.0 KiB, about 10 s left");
    expect(uploadMessage(half, false)).toBe("1.0 KiB of 2.0 KiB, waits for the network");
    expect(uploadMessage({ ...half, handingOver: true }, true)).toBe("All there, being handed over");
  });

  it("says what went wrong as sentences", () => {
    const [failed] = unify([told("a", "FAILED", { error_message: "no audio in it" })], []);
    const [stuck] = unify([], [upload("x", { status: "upload_failed", problem: refused })]);
    const facts = { reachable: true, now: Date.now() };
    expect(wordsOf(failed as UnifiedItem, facts)).toEqual({ message: "No audio in it.", remedy: null, bad: true });
    expect(wordsOf(stuck as UnifiedItem, facts)).toEqual({ message: "Not known.", remedy: "Choose another.", bad: true });
  });

  it("fills the bar with bytes, then with seconds of audio", () => {
    const [sent] = unify([], [upload("x", { sent: 300 })]);
    const [heard] = unify([told("a", "PROCESSING", { progress: { current: 2, total: 8 } })], []);
    const [waits] = unify([told("a", "PENDING")], []);
    expect(progressOf(sent as UnifiedItem)).toEqual({ current: 300, total: 1000 });
    expect(progressOf(heard as UnifiedItem)).toEqual({ current: 2, total: 8 });
    expect(progressOf(waits as UnifiedItem)).toBeNull();
  });
});

describe("the pace of an upload", () => {
  it("is known after half a second, and forgets what is long past", () => {
    const pace = new Pace();
    pace.add(0, 0);
    pace.add(100, 100);
    expect(pace.perSecond()).toBeNull();
    pace.add(1000, 1000);
    expect(pace.perSecond()).toBe(1000);
    pace.add(1500, 20_000);
    expect(pace.perSecond()).toBeNull();
  });

  it("begins anew when the server has less than was thought", () => {
    const pace = new Pace();
    pace.add(5000, 0);
    pace.add(9000, 1000);
    pace.add(4000, 2000);
    expect(pace.perSecond()).toBeNull();
  });
});

describe("the popup", () => {
  const live = unify([told("a", "PENDING")], []);
  const open = { folded: false, closedOver: null, kept: false };

  it("stays closed over what was under way, and comes back with new work", () => {
    const shut = closed(open, live);
    expect(reopened(shut, live).closedOver).toEqual(["rec_a"]);
    expect(reopened(shut, unify([told("a", "PENDING"), told("b", "PENDING")], [])).closedOver).toBeNull();
  });

  it("comes back when something that had ended is tried again", () => {
    const over = reopened(closed(open, live), unify([told("a", "FAILED")], []));
    expect(over.closedOver).toEqual([]);
    expect(reopened(over, live).closedOver).toBeNull();
  });

  it("has nothing left to say once all is done, and nothing failed", () => {
    const done = told("a", "COMPLETED");
    expect(allDone(unify([done], []))).toBe(true);
    expect(allDone(unify([done, told("b", "FAILED")], []))).toBe(false);
    expect(allDone(live)).toBe(false);
    expect(allDone([])).toBe(false);
    expect(closed({ ...open, kept: true }, live).kept).toBe(false);
  });

  it("is there while something goes on, went wrong, or has just ended", () => {
    const at = Date.parse("2026-11-16T10:00:00Z");
    const done = unify([told("a", "COMPLETED", { completed_at: "2026-11-16T10:00:00Z" })], []);
    expect(isDue([], at)).toBe(false);
    expect(isDue(live, at + 3_600_000)).toBe(true);
    expect(isDue(done, at + 60_000)).toBe(true);
    expect(isDue(done, at + 3_600_000)).toBe(false);
  });
});
