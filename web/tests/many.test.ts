import { beforeEach, describe, expect, it } from "vitest";
import { inParts, untilDone, type Batch } from "@/services/many";
import { toastOutcome, toasts } from "@/stores/toasts";

describe("acting on many", () => {
  it("is done in parts that the server takes at once, and adds up", async () => {
    const sizes: number[] = [];
    const told: number[] = [];
    const ids = Array.from({ length: 1001 }, (_, number) => String(number));
    const total = await inParts(
      ids,
      ([first = "", ...rest]) => {
        sizes.push(rest.length + 1);
        return Promise.resolve({ done: rest.length, refused: { [first]: "it runs" } });
      },
      (done) => told.push(done),
    );
    expect(sizes).toEqual([500, 500, 1]);
    expect(told).toEqual([499, 998, 998]);
    expect(total).toEqual({ done: 998, refused: { 0: "it runs", 500: "it runs", 1000: "it runs" } });
  });

  it("goes on after the last batch until nothing remains", async () => {
    const batches: Batch[] = [
      { done: 5, refused: { a: "gone" }, remaining: true, next: "n1" },
      { done: 0, refused: {}, remaining: true, next: "n2" },
      { done: 2, refused: { b: "runs" }, remaining: false, next: null },
    ];
    const asked: (string | null)[] = [];
    const total = await untilDone((after) => {
      asked.push(after);
      return Promise.resolve(batches[asked.length - 1] as Batch);
    });
    expect(asked).toEqual([null, "n1", "n2"]);
    expect(total).toEqual({ done: 7, refused: { a: "gone", b: "runs" } });
  });
});

describe("the message about many", () => {
  beforeEach(() => void (toasts.value = []));

  it("says how many were done, and why others were left alone", () => {
    toastOutcome({ done: 2, refused: {} }, "job", "deleted");
    toastOutcome({ done: 1, refused: { a: "it runs" } }, "job", "deleted");
    expect(toasts.value).toMatchObject([
      { text: "2 jobs deleted", detail: null, bad: false },
      { text: "1 job deleted", detail: "1 job left alone: it runs", bad: false },
    ]);
  });

  it("is bad news only where nothing could be done", () => {
    toastOutcome({ done: 0, refused: { a: "it runs", b: "it runs" } }, "recording", "retried");
    toastOutcome({ done: 0, refused: {} }, "job", "deleted");
    expect(toasts.value).toMatchObject([
      { text: "0 recordings retried", detail: "2 recordings left alone: it runs", bad: true },
      { text: "0 jobs deleted", bad: false },
    ]);
  });
});
