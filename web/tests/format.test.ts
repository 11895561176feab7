import { describe, expect, it } from "vitest";
import { browserName } from "@/format/browsers";
import { cronWords } from "@/format/cron";
import { eventName, eventText } from "@/format/events";
import { count, money, percent, plural, rate, short } from "@/format/numbers";
import { axisDuration, clock, duration, etaRange, relative, toMillis } from "@/format/time";
import { reasonWord, sentence, shortId } from "@/format/words";
import { event } from "./rows";

const NOW = new Date(2026, 10, 16, 14, 0, 0).getTime();

describe("durations", () => {
  it.each([
    [0, "0 ms"],
    [840, "840 ms"],
    [3210, "3.2 s"],
    [42_400, "42 s"],
    [59_800, "1 m 00 s"],
    [245_000, "4 m 05 s"],
    [7_860_000, "2 h 11 m"],
    [277_200_000, "3 d 5 h"],
    [-5, "0 ms"],
    [null, "–"],
    [Number.NaN, "–"],
  ])("%s ms reads %s", (ms, words) => expect(duration(ms)).toBe(words));

  it("along an axis are round", () => {
    expect([0, 500, 1000, 90_000, 7_200_000].map(axisDuration)).toEqual(["0", "500 ms", "1 s", "1.5 m", "2 h"]);
  });
});

describe("moments", () => {
  it("are told from now", () => {
    expect(relative(NOW - 300, NOW)).toBe("now");
    expect(relative(NOW - 12_000, NOW)).toBe("12 s ago");
    expect(relative(NOW + 180_000, NOW)).toBe("in 3 m");
    expect(relative(NOW - 30 * 3_600_000, NOW)).toBe("30 h ago");
    expect(relative(NOW - 111 * 60_000, NOW)).toBe("2 h ago");
    expect(relative(NOW + 111 * 60_000, NOW)).toBe("in 1 h 51 m");
    expect(relative(NOW + 120 * 60_000, NOW)).toBe("in 2 h");
    expect(relative(NOW + 20.6 * 3_600_000, NOW)).toBe("in 21 h");
    expect(relative(NOW - 72 * 3_600_000, NOW)).toBe("3 d ago");
    expect(relative(null, NOW)).toBe("–");
  });

  it("are told by the clock, with the day when it is another", () => {
    expect(clock(NOW, NOW)).toBe("14:00:00");
    expect(clock(NOW - 86_400_000, NOW)).toBe("15 Nov 14:00");
  });

  it("that are no times are unknown", () => {
    expect(toMillis("nonsense")).toBeNull();
    expect(toMillis(null)).toBeNull();
  });

  it("that are only expected are a range", () => {
    expect(etaRange([60, 240])).toBe("about 1 m to 4 m");
    expect(etaRange([1, 4])).toBe("a few seconds");
    expect(etaRange([0, 170])).toBe("up to 3 m");
    expect(etaRange([40, 119])).toBe("about 40 s to 2 m");
    expect(etaRange(null)).toBeNull();
  });
});

describe("figures", () => {
  it("are grouped, and shortened when they are large", () => {
    expect(count(1_234_567)).toBe("1,234,567");
    expect([9999, 12_400, 100_000, 999_600, 1_200_000].map(short)).toEqual(["9,999", "12.4 k", "100 k", "1 M", "1.2 M"]);
  });

  it("that are unknown are never zero", () => {
    expect([count(null), short(null), money(null), percent(null), rate(null)]).toEqual(Array(5).fill("–"));
  });

  it("of money keep the digits of small amounts", () => {
    expect([0, 0.0004, 0.42, 284.5, 1_234_500].map(money)).toEqual(["$0.00", "<$0.0001", "$0.0042", "$2.85", "$12,345.00"]);
  });

  it("of shares do not round something to nothing", () => {
    expect([0, 0.0004, 0.021, 0.5, 1].map(percent)).toEqual(["0 %", "<0.1 %", "2.1 %", "50 %", "100 %"]);
  });

  it("agree with their nouns", () => {
    expect([plural(1, "job"), plural(2, "job"), plural(0, "child", "children")]).toEqual(["1 job", "2 jobs", "0 children"]);
  });
});

describe("words", () => {
  it("make a sentence of an explanation", () => expect(sentence("it is next")).toBe("It is next."));
  it("leave out a reason that only repeats the state", () => expect(reasonWord("queued")).toBeNull());
  it("show an unknown reason as it is", () => expect(reasonWord("moon_phase")).toBe("moon phase"));
  it("tell jobs of the same millisecond apart", () =>
    expect(shortId("01a1e208-f4fc-78bd-8f70-1cfaf8bcd052")).toBe("f8bcd052"));
  it("recognise a browser", () => {
    expect(browserName("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140 Safari/537.36")).toBe(
      "Chrome on Linux",
    );
    expect(browserName("curl/8.1")).toBe("curl");
  });
});

describe("cron lines", () => {
  it.each([
    ["* * * * *", "every minute"],
    ["*/15 * * * *", "every 15 minutes"],
    ["5 * * * *", "hourly at 05 past"],
    ["0 */6 * * *", "every 6 hours"],
    ["30 2 * * *", "daily at 02:30"],
    ["0 7 * * 1-5", "on working days at 07:00"],
    ["0 6 * * 1", "Mondays at 06:00"],
    ["0 6 1 * *", "on day 1 of each month at 06:00"],
    ["0 6 1 1 *", null],
    ["1,2 3 * * *", null],
    ["@daily", null],
  ])("%s reads %s", (cron, words) => expect(cronWords(cron)).toBe(words));
});

describe("events", () => {
  it("have names in words, but users' own stay", () => {
    expect([eventName("job.retry_scheduled"), eventName("step.completed"), eventName("window.done")]).toEqual([
      "Retry scheduled",
      "Step done",
      "window.done",
    ]);
  });

  it("say what their fields mean", () => {
    expect(eventText(event("a", 1, "step.completed", { fields: { step: "decode", duration_ms: 801, retries: 0 } }))).toBe(
      "decode · 801 ms",
    );
    expect(eventText(event("a", 1, "job.children", { fields: { total: 8, ok: 4, partial: 0, bad: 1 } }))).toBe(
      "5 of 8 ended, 1 did not succeed",
    );
    expect(eventText(event("a", 1, "own", { fields: { page: 3 } }))).toBe("{page: 3}");
    expect(eventText(event("a", 1, "own", { message: "hello" }))).toBe("hello");
    expect(eventText(event("a", 1, "job.failed", { message: "no", fields: { message: "no" } }))).toBe("no");
  });
});
