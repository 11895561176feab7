// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { effectScope, nextTick, ref, type EffectScope } from "vue";
import type { JobEvent } from "@/api/types";
import { useEventLog, type EventLog, type EventLogSource } from "@/composables/useEventLog";
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
  let scope: EffectScope;
  beforeEach(() => {
    vi.useFakeTimers();
    scope = effectScope();
  });
  afterEach(() => {
    scope.stop();
    vi.useRealTimers();
  });

  const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

  async function open(load: EventLogSource["load"], seq: () => number | null): Promise<void> {
    log = scope.run(() => useEventLog({ jobId: "a", seq, load })) as EventLog;
    await settle();
  }

  const seqs = (): number[] => log.events.value.map((line) => line.seq);

  it("opens at its end and reads backwards on request", async () => {
    const { load } = server(450);
    await open(load, () => 450);
    expect([seqs()[0], seqs().at(-1)]).toEqual([251, 450]);
    expect(log.earlier.value).toBe(true);
    await log.loadEarlier();
    await log.loadEarlier();
    expect(seqs()).toEqual(Array.from({ length: 450 }, (_, index) => index + 1));
    expect(log.earlier.value).toBe(false);
  });

  it("appends what follows on, without asking", async () => {
    const { asked, load } = server(3);
    await open(load, () => 3);
    asked.length = 0;
    push(4, 5);
    expect(seqs()).toEqual([1, 2, 3, 4, 5]);
    expect(asked).toEqual([]);
  });

  it("ignores what it has and what belongs to others", async () => {
    const { load } = server(3);
    await open(load, () => 3);
    push(2, 3);
    receive([jobMessage(job("b", { seq: 4 }), [event("b", 4)])]);
    flushLive();
    expect(seqs()).toEqual([1, 2, 3]);
  });

  it("reads what lies in a gap from the server", async () => {
    const { kept, load } = server(3);
    await open(load, () => 3);
    kept.last = 9;
    push(8, 9);
    await settle();
    expect(seqs()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("catches up after the stream was reset", async () => {
    const { kept, load } = server(3);
    await open(load, () => 3);
    kept.last = 6;
    receive([{ id: "t", event: "reset", data: "{}" }]);
    flushLive();
    await settle();
    expect(seqs().at(-1)).toBe(6);
  });

  it("waits until somebody knows the job", async () => {
    const { asked, load } = server(3);
    const seq = ref<number | null>(null);
    await open(load, () => seq.value);
    expect([asked, log.loaded.value]).toEqual([[], false]);
    seq.value = 3;
    await nextTick();
    await settle();
    expect(seqs()).toEqual([1, 2, 3]);
  });

  it("misses nothing that is pushed while it is being read", async () => {
    const { kept, load } = server(3);
    const held: (() => void)[] = [];
    await open(
      async (after, limit) => {
        const part = await load(after, limit);
        await new Promise<void>((resolve) => held.push(resolve));
        return part;
      },
      () => 3,
    );
    kept.last = 5;
    push(4, 5);
    for (let turn = 0; turn < 10; turn += 1) {
      held.splice(0).forEach((release) => release());
      await settle();
    }
    expect(seqs()).toEqual([1, 2, 3, 4, 5]);
  });

  it("keeps the earlier part that came while it was reading on", async () => {
    const { kept, load } = server(300);
    let release: (() => void) | null = null;
    let slow = false;
    await open(
      async (after, limit) => {
        const part = await load(after, limit);
        if (slow && after >= 300) await new Promise<void>((resolve) => (release = resolve));
        return part;
      },
      () => 300,
    );
    slow = true;
    kept.last = 302;
    receive([{ id: "t", event: "reset", data: "{}" }]);
    flushLive();
    await log.loadEarlier();
    slow = false;
    (release as (() => void) | null)?.();
    await settle();
    expect(seqs()).toEqual(Array.from({ length: 302 }, (_, index) => index + 1));
  });

  it("begins where an earlier part is gone", async () => {
    const { load } = server(450);
    await open(
      (after, limit) => (after < 250 ? Promise.resolve([]) : load(after, limit)),
      () => 450,
    );
    expect(log.earlier.value).toBe(true);
    await log.loadEarlier();
    expect([log.earlier.value, log.error.value]).toEqual([false, null]);
  });

  it("says why an earlier part could not be had, until it is there", async () => {
    const { load } = server(450);
    let fails = true;
    await open(
      (after, limit) => (fails && after < 250 ? Promise.reject(new Error("no")) : load(after, limit)),
      () => 450,
    );
    await log.loadEarlier();
    expect([log.error.value?.detail, seqs()[0]]).toEqual(["no", 251]);
    fails = false;
    await log.loadEarlier();
    expect([log.error.value, seqs()[0]]).toEqual([null, 51]);
  });
});
