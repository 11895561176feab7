import { afterEach, describe, expect, it, vi } from "vitest";
import type { JobEvent } from "@/api/types";
import { createEventLog, type EventLog } from "@/stores/eventLog";
import { flushLive, receive } from "@/stores/live";
import { event, job, jobMessage } from "./rows";

/** A server that has events 1 to `last` of the job "a". */
function server(last: number) {
  const asked: [number, number][] = [];
  const kept = { last };
  const load = (after: number, limit: number): Promise<JobEvent[]> => {
    asked.push([after, limit]);
    const count = Math.max(0, Math.min(limit, kept.last - after));
    return Promise.resolve(Array.from({ length: count }, (_, index) => event("a", after + 1 + index)));
  };
  return { asked, kept, load };
}

function push(...seqs: number[]): void {
  receive([
    jobMessage(
      job("a", { seq: Math.max(...seqs) }),
      seqs.map((seq) => event("a", seq)),
    ),
  ]);
  flushLive();
}

describe("a job's log", () => {
  let log: EventLog;
  afterEach(() => log.dispose());

  const seqs = (): number[] => log.events.value.map((line) => line.seq);

  it("opens at its end and reads backwards on request", async () => {
    const { load } = server(450);
    log = createEventLog({ jobId: "a", load });
    await log.open(450);
    expect([seqs()[0], seqs().at(-1)]).toEqual([251, 450]);
    expect(log.earlier.value).toBe(true);
    await log.loadEarlier();
    await log.loadEarlier();
    expect(seqs()).toEqual(Array.from({ length: 450 }, (_, index) => index + 1));
    expect(log.earlier.value).toBe(false);
  });

  it("appends what follows on, without asking", async () => {
    const { asked, load } = server(3);
    log = createEventLog({ jobId: "a", load });
    await log.open(3);
    asked.length = 0;
    push(4, 5);
    expect(seqs()).toEqual([1, 2, 3, 4, 5]);
    expect(asked).toEqual([]);
  });

  it("ignores what it has and what belongs to others", async () => {
    const { load } = server(3);
    log = createEventLog({ jobId: "a", load });
    await log.open(3);
    push(2, 3);
    receive([jobMessage(job("b", { seq: 4 }), [event("b", 4)])]);
    flushLive();
    expect(seqs()).toEqual([1, 2, 3]);
  });

  it("reads what lies in a gap from the server", async () => {
    const { kept, load } = server(3);
    log = createEventLog({ jobId: "a", load });
    await log.open(3);
    kept.last = 9;
    push(8, 9);
    await vi.waitFor(() => expect(seqs()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]));
  });

  it("catches up after the stream was reset", async () => {
    const { kept, load } = server(3);
    log = createEventLog({ jobId: "a", load });
    await log.open(3);
    kept.last = 6;
    receive([{ id: "t", event: "reset", data: "{}" }]);
    flushLive();
    await vi.waitFor(() => expect(seqs().at(-1)).toBe(6));
  });
});
