import { describe, expect, it } from "vitest";
import { headline } from "@/services/headline";
import { looksLikeId, rank, type Command } from "@/services/commands";
import { remaining } from "@/composables/useEta";

const command = (title: string, note?: string): Command => ({ id: title, title, note, icon: "jobs", run: () => undefined });

describe("the palette", () => {
  const commands = [
    command("Home"),
    command("Jobs"),
    command("Jobs that failed"),
    command("New job"),
    command("API tokens", "Settings"),
  ];

  it("offers everything until something is typed", () => expect(rank(commands, "")).toHaveLength(5));

  it("puts what begins with the word first", () => {
    expect(rank(commands, "jo").map((found) => found.title)).toEqual(["Jobs", "Jobs that failed", "New job"]);
  });

  it("wants every word to be found", () => {
    expect(rank(commands, "jobs fail").map((found) => found.title)).toEqual(["Jobs that failed"]);
    expect(rank(commands, "settings").map((found) => found.title)).toEqual(["API tokens"]);
    expect(rank(commands, "nonsense")).toEqual([]);
  });

  it("recognises the beginning of an id", () => {
    expect([looksLikeId("01a1e208"), looksLikeId("01a1e208-f4fc"), looksLikeId("resize"), looksLikeId("01a")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe("the headline", () => {
  const none = {
    queued: 0,
    scheduled: 0,
    running: 0,
    waiting: 0,
    succeeded_24h: 0,
    partial_24h: 0,
    failed_24h: 0,
    cancelled_24h: 0,
    capped: false,
  };

  it("says what goes on in one sentence", () => {
    expect(headline({ ...none, running: 8, queued: 128, waiting: 1 }, 1)).toBe(
      "8 jobs under way, 128 in the queue and 1 waiting for something",
    );
    expect(headline({ ...none, running: 1 }, 1)).toBe("1 job under way");
    expect(headline({ ...none, queued: 1, scheduled: 1 }, 1)).toBe("1 job scheduled for later");
    expect(headline({ ...none, running: 2, queued: 4, scheduled: 1 }, 1)).toBe(
      "2 jobs under way, 3 in the queue and 1 scheduled for later",
    );
    expect(headline({ ...none, queued: 2 }, 0)).toBe("2 jobs queued, and no worker is running");
    expect(headline({ ...none, queued: 4999, capped: true }, 1)).toBe("At least 4,999 jobs in the queue");
    expect(headline(none, 1)).toBe("All is quiet");
    expect(headline({ ...none, succeeded_24h: 5 }, 1)).toBe("All is quiet, and nothing failed today");
  });
});

describe("what is left of a running job", () => {
  it("is judged by its recent pace and counts down", () => {
    const samples = [
      { at: 0, current: 0 },
      { at: 10_000, current: 20 },
    ];
    expect(remaining(samples, 100, 10_000)).toBe(40_000);
    expect(remaining(samples, 100, 15_000)).toBe(35_000);
    expect(remaining(samples, 100, 90_000)).toBe(0);
  });

  it("is not known before something moved", () => {
    expect(remaining([{ at: 0, current: 0 }], 100, 5000)).toBeNull();
    expect(
      remaining(
        [
          { at: 0, current: 5 },
          { at: 9, current: 5 },
        ],
        100,
        10,
      ),
    ).toBeNull();
  });
});
