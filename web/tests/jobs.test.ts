import { beforeEach, describe, expect, it } from "vitest";
import { effectScope, watchEffect } from "vue";
import { applyJob, forgetPushed, heldCount, holdJob, pushJob, releaseJob } from "@/stores/jobs";
import { flushLive, listenLive, receive, registerKind, setLiveStatus, type JobPush } from "@/stores/live";
import { event, job, jobMessage } from "./rows";

describe("the one object per job", () => {
  beforeEach(() => {
    while (heldCount()) for (const id of ["a", "b"]) releaseJob(id);
    forgetPushed();
  });

  it("is shared by everybody who shows the job", () => {
    const first = holdJob(job("a"));
    const second = holdJob(job("a", { state: "running", seq: 2 }));
    expect(second).toBe(first);
    expect(first.state).toBe("running");
  });

  it("never goes back to an older row", () => {
    const held = holdJob(job("a", { state: "succeeded", seq: 9 }));
    applyJob(job("a", { state: "running", seq: 8 }));
    expect(held.state).toBe("succeeded");
    applyJob(job("a", { state: "queued", seq: 10 }));
    expect(held.state).toBe("queued");
  });

  it("is what was pushed, if the answer that brings it was read before", () => {
    pushJob(job("a", { state: "succeeded", seq: 9 }));
    expect(holdJob(job("a", { state: "running", seq: 8 })).state).toBe("succeeded");
    expect(holdJob(job("b")).state).toBe("queued");
  });

  it("takes a row of the same seq, which may be fresher in what has no events", () => {
    const held = holdJob(job("a", { seq: 3, worker_id: null }));
    applyJob(job("a", { seq: 3, worker_id: "w1" }));
    expect(held.worker_id).toBe("w1");
  });

  it("repaints nothing when nothing changed", () => {
    const held = holdJob(job("a", { progress: { current: 1, total: 2 } }));
    let painted = 0;
    const scope = effectScope();
    scope.run(() => watchEffect(() => void (held.progress && (painted += 1)), { flush: "sync" }));
    applyJob(job("a", { progress: { current: 1, total: 2 }, seq: 1 }));
    expect(painted).toBe(1);
    applyJob(job("a", { progress: { current: 2, total: 2 }, seq: 2 }));
    expect(painted).toBe(2);
    scope.stop();
  });

  it("is forgotten when the last one lets go", () => {
    holdJob(job("a"));
    holdJob(job("a"));
    releaseJob("a");
    expect(heldCount()).toBe(1);
    releaseJob("a");
    expect(heldCount()).toBe(0);
    expect(applyJob(job("a"))).toBeNull();
  });
});

describe("the one subscriber", () => {
  beforeEach(() => {
    setLiveStatus("off");
    while (heldCount()) for (const id of ["a", "b"]) releaseJob(id);
    forgetPushed();
  });

  it("applies rows before it tells the listeners, in one batch", () => {
    const held = holdJob(job("a"));
    const batches: JobPush[][] = [];
    const states: string[] = [];
    const stop = listenLive({
      onPushed({ jobs }) {
        batches.push(jobs);
        states.push(held.state);
      },
    });
    receive([jobMessage(job("a", { state: "running", seq: 2 }), [event("a", 2, "job.started")])]);
    receive([jobMessage(job("b", { seq: 1 }))]);
    flushLive();
    expect(batches).toHaveLength(1);
    expect(batches[0]?.map((push) => push.job.id)).toEqual(["a", "b"]);
    expect(states).toEqual(["running"]);
    stop();
  });

  it("keeps the newest row when several of one job arrive out of order", () => {
    const held = holdJob(job("a"));
    receive([jobMessage(job("a", { state: "succeeded", seq: 7 })), jobMessage(job("a", { state: "running", seq: 5 }))]);
    flushLive();
    expect(held.state).toBe("succeeded");
  });

  it("asks for a reload on reset, and on the first opening, but not when it resumes", () => {
    let reloads = 0;
    const stop = listenLive({ onReload: () => void (reloads += 1) });
    setLiveStatus("open");
    expect(reloads).toBe(1);
    setLiveStatus("reconnecting");
    setLiveStatus("open");
    expect(reloads).toBe(1);
    receive([{ id: "t9", event: "reset", data: '{"reason":"expired"}' }]);
    flushLive();
    expect(reloads).toBe(2);
    stop();
  });

  it("says each time that the server answers again", () => {
    let opened = 0;
    const stop = listenLive({ onOpen: () => void (opened += 1) });
    for (const status of ["connecting", "open", "reconnecting", "open", "open"] as const) setLiveStatus(status);
    expect(opened).toBe(2);
    stop();
  });

  it("tells whoever registered a kind of its rows as the server lists them, and of those that are gone", () => {
    const boatsIn = registerKind<{ id: string; name: string }>("boat");
    const told: ReturnType<typeof boatsIn> = [];
    const stop = listenLive({ onPushed: (pushed) => void told.push(...boatsIn(pushed)) });
    const row = { id: "b1", name: "Ann" };
    receive([
      { id: "t1", event: "boat", data: JSON.stringify(row) },
      { id: "t2", event: "boat.deleted", data: '{"id":"b1"}' },
    ]);
    flushLive();
    expect(told).toEqual([
      { id: "b1", row },
      { id: "b1", row: null },
    ]);
    stop();
  });

  it("passes over messages of a kind that nobody has registered", () => {
    let told = 0;
    const stop = listenLive({ onPushed: () => void (told += 1) });
    receive([
      { id: "t1", event: "raft", data: "not for this page" },
      { id: "t2", event: "raft.deleted", data: '{"id":"r1"}' },
    ]);
    flushLive();
    expect(told).toBe(0);
    stop();
  });

  it("tells of deletions, and tells nobody who has left", () => {
    const gone: string[] = [];
    const stop = listenLive({ onPushed: ({ deleted }) => void gone.push(...deleted) });
    receive([{ id: "t1", event: "deleted", data: '{"id":"a"}' }]);
    flushLive();
    stop();
    receive([{ id: "t2", event: "deleted", data: '{"id":"b"}' }]);
    flushLive();
    expect(gone).toEqual(["a"]);
  });
});
