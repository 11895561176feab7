// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { jobActions, queueActions, verbIn } from "@/services/paletteActions";
import { job } from "./rows";

test.each([
  ["cancel talk", "cancel", "talk"],
  ["Stop my talk", "cancel", "my talk"],
  ["retry 0199aaaa", "retry", "0199aaaa"],
  ["cancel", null, "cancel"],
  ["cancellation", null, "cancellation"],
])("%s", (typed, verb, rest) => expect(verbIn(typed)).toEqual({ verb, rest }));

test("only what a job's state allows is offered", () => {
  const titles = (state: "running" | "failed" | "succeeded", verb: "cancel" | "retry" | null): string[] =>
    jobActions(job("0199aaaa-0000", { state }), verb, "it").map(({ title }) => title);
  expect(titles("running", null)).toEqual(["Cancel it"]);
  expect(titles("running", "retry")).toEqual([]);
  expect(titles("failed", null)).toEqual(["Retry it"]);
  expect(titles("succeeded", null)).toEqual([]);
});

test("a queue is paused, or resumed", () => {
  const queue = { name: "mail", paused: false } as Parameters<typeof queueActions>[0][number];
  expect(queueActions([queue, { ...queue, paused: true }]).map(({ title }) => title)).toEqual([
    "Pause the queue mail",
    "Resume the queue mail",
  ]);
});
