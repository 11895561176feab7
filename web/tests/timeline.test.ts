import { describe, expect, it } from "vitest";
import type { Step } from "@/api/types";
import { attemptRows, axisFor, childRow, childRows, stepRows, ticks } from "@/services/timeline";
import { event, job } from "./rows";

const START = Date.parse("2026-11-16T10:00:00.000Z");
const at = (second: number): number => START + second * 1000;

function step(name: string, change: Partial<Step>): Step {
  return {
    name,
    kind: "step",
    order: 1,
    done: true,
    attempt: 1,
    retries: 0,
    started_at: null,
    duration_ms: null,
    model: null,
    tokens_in: null,
    tokens_out: null,
    cost_cents: null,
    until: null,
    created_at: new Date(at(5)).toISOString(),
    ...change,
  };
}

describe("attempts", () => {
  it("turn events into bars without gaps", () => {
    const [row] = attemptRows([
      event("a", 1, "job.created"),
      event("a", 2, "job.started"),
      event("a", 4, "job.waiting"),
      event("a", 6, "job.resumed"),
      event("a", 7, "job.started"),
      event("a", 9, "job.succeeded"),
    ]);
    expect(row?.bars.map((bar) => [bar.kind, bar.from, bar.to])).toEqual([
      ["queued", at(1), at(2)],
      ["running", at(2), at(4)],
      ["waiting", at(4), at(6)],
      ["queued", at(6), at(7)],
      ["running", at(7), at(9)],
    ]);
    expect(row?.marks).toEqual([{ at: at(9), kind: "good", title: "succeeded" }]);
  });

  it("have not begun while the job never started", () => {
    expect(attemptRows([event("a", 1, "job.created")]).map((row) => row.label)).toEqual(["Not started"]);
    const cancelled = attemptRows([event("a", 1, "job.created"), event("a", 2, "job.cancelled")]);
    expect(cancelled.map((row) => row.label)).toEqual(["Not started"]);
    const again = attemptRows([
      event("a", 1, "job.created"),
      event("a", 2, "job.cancelled"),
      event("a", 3, "job.requeued"),
      event("a", 4, "job.started"),
      event("a", 5, "job.retry_scheduled"),
    ]);
    expect(again.map((row) => row.label)).toEqual(["Not started", "Attempt 1", "Attempt 2"]);
  });

  it("begin anew after a failure, and mark it where it happened", () => {
    const rows = attemptRows([
      event("a", 1, "job.created"),
      event("a", 2, "job.started"),
      event("a", 3, "job.retry_scheduled", { message: "reset by peer" }),
      event("a", 5, "job.started"),
    ]);
    expect(rows.map((row) => row.label)).toEqual(["Attempt 1", "Attempt 2"]);
    expect(rows[0]?.marks).toEqual([{ at: at(3), kind: "bad", title: "reset by peer" }]);
    expect(rows[1]?.note).toBe("reset by peer");
    expect(rows[1]?.bars.at(-1)).toMatchObject({ kind: "running", to: null });
  });

  it("are not disturbed by other events", () => {
    const rows = attemptRows([event("a", 1, "job.created"), event("a", 2, "job.progress"), event("a", 3, "own")]);
    expect(rows[0]?.bars).toHaveLength(1);
  });
});

describe("steps", () => {
  it("lie where they ran", () => {
    const [row] = stepRows([step("decode", { started_at: new Date(at(2)).toISOString(), duration_ms: 3000 })], []);
    expect(row?.bars[0]).toMatchObject({ kind: "step", from: at(2), to: at(5) });
  });

  it("that wait end when the job was woken", () => {
    const wait = step("gather pages", { kind: "gather", started_at: new Date(at(3)).toISOString() });
    expect(stepRows([wait], [event("a", 8, "job.resumed")])[0]?.bars[0]).toMatchObject({
      kind: "wait",
      from: at(3),
      to: at(8),
    });
    expect(stepRows([{ ...wait, done: false }], [])[0]?.bars[0]?.to).toBeNull();
  });
});

describe("children", () => {
  it("show their wait and their run", () => {
    const row = childRow(
      job("c", {
        state: "failed",
        created_at: new Date(at(1)).toISOString(),
        started_at: new Date(at(2)).toISOString(),
        finished_at: new Date(at(4)).toISOString(),
      }),
    );
    expect(row.bars.map((bar) => [bar.kind, bar.from, bar.to])).toEqual([
      ["queued", at(1), at(2)],
      ["bad", at(2), at(4)],
    ]);
  });
});

describe("many children", () => {
  it("are in the order they began, the others last", () => {
    const begun = (id: string, second: number | null): ReturnType<typeof job> =>
      job(id, { started_at: second === null ? null : new Date(at(second)).toISOString() });
    const rows = childRows([begun("c", null), begun("b", 2), begun("a", null), begun("d", 1)]);
    expect(rows.map((row) => row.jobId)).toEqual(["d", "b", "a", "c"]);
  });
});

describe("the axis", () => {
  const life = { created_at: new Date(at(0)).toISOString(), started_at: null, finished_at: new Date(at(100)).toISOString() };
  const run = (from: number): ReturnType<typeof attemptRows> => [
    {
      key: "a",
      group: "attempt",
      label: "",
      note: null,
      jobId: null,
      state: null,
      marks: [],
      bars: [{ kind: "running", from: at(from), to: at(100), title: "" }],
    },
  ];

  it("spans the whole life", () =>
    expect(axisFor(life, at(100), run(10))).toMatchObject({ from: at(0), to: at(100), skipped: 0 }));

  it("leaves out a long wait before the first start", () => {
    const axis = axisFor(life, at(100), run(90));
    expect(axis.from).toBeGreaterThan(at(80));
    expect(axis.skipped).toBeGreaterThan(0);
  });

  it("has a handful of round marks at any length", () => {
    for (const span of [3, 900, 61_000, 5_400_000, 90_000_000, 4e10]) {
      const found = ticks(0, span).length;
      expect(found).toBeGreaterThanOrEqual(2);
      expect(found).toBeLessThanOrEqual(8);
    }
  });
});
