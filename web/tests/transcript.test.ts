import { describe, expect, it } from "vitest";
import { byLine, findIn, nearest, pieces, turn } from "@/services/recordings/finding";
import { after, AT_FIRST, correction, mayScroll, sees, type ReaderDid } from "@/services/recordings/following";
import { density, inParts, lineAt, opensTurn } from "@/services/recordings/lines";
import { spokenTime, timecode } from "@/services/recordings/timecode";

const line = (start: number, end: number, text = "x", speaker: string | null = null) => ({ start, end, text, speaker });

describe("the line that is being said", () => {
  const lines = [line(1, 3), line(3, 4.5), line(10, 12)];
  it.each([
    [0, -1],
    [0.94, -1],
    [1, 0],
    [2.99, 1],
    [3, 1],
    [7, 1],
    [10, 2],
    [500, 2],
  ])("at %s s is number %s", (seconds, at) => expect(lineAt(lines, seconds)).toBe(at));

  it("is none where nobody speaks at all", () => expect(lineAt([], 5)).toBe(-1));

  it("is the one asked for, also when the player lands a hair before it", () => expect(lineAt(lines, 9.96)).toBe(2));

  it("is found among many thousands in a few steps", () => {
    const many = Array.from({ length: 100_000 }, (_, at) => line(at * 2, at * 2 + 1));
    expect(lineAt(many, 150_001)).toBe(75_000);
  });
});

describe("lines in groups", () => {
  const lines = Array.from({ length: 7 }, (_, at) => ({ at }));
  it("lose none and keep their order", () => expect(inParts(lines, 3).flat()).toEqual(lines));

  it("stay the same object where nothing changed", () => {
    const before = inParts(lines, 3);
    const now = inParts(
      lines.map((one) => (one.at === 4 ? { at: 4 } : one)),
      3,
      before,
    );
    expect(now.map((part, at) => part === before[at])).toEqual([true, false, true]);
  });
});

describe("a recording from far away", () => {
  it("shows where nobody speaks, and how much is said elsewhere", () => {
    const found = density([line(0, 10, "a".repeat(100)), line(30, 40, "a".repeat(50))], 40, 4);
    expect(found).toEqual([1, 0, 0, 0.5]);
  });

  it("shows the least word", () => {
    const found = density([line(0, 10, "a".repeat(1000)), line(20, 20, "a")], 40, 4);
    expect(found[2]).toBeGreaterThan(0.1);
  });

  it("has nothing to show without a length, or beyond it", () => {
    expect(density([line(0, 1)], 0, 3)).toEqual([0, 0, 0]);
    expect(density([line(50, 51)], 10, 2)).toEqual([0, 0]);
  });

  it("names a speaker when somebody else begins", () => {
    const lines = [line(0, 1, "x", "A"), line(1, 2, "x", "A"), line(2, 3, "x", "B"), line(3, 4), line(4, 5, "x", "B")];
    expect(lines.map((_, at) => opensTurn(lines, at))).toEqual([true, false, true, false, true]);
  });
});

describe("finding words", () => {
  const lines = [{ text: "Ever tried. Ever failed." }, { text: "No matter. (Try  again?)" }, { text: "STRASSE nach Süden" }];

  it("counts every place, however it is capitalised", () => {
    expect(findIn(lines, "EVER").map((hit) => [hit.line, hit.start, hit.end])).toEqual([
      [0, 0, 4],
      [0, 12, 16],
    ]);
    expect(findIn(lines, "süd")).toHaveLength(1);
  });

  it("takes what was typed for text, and any space for a space", () => {
    expect(findIn(lines, "(try again?)")).toEqual([{ line: 1, start: 11, end: 24 }]);
    expect(findIn(lines, ".*")).toEqual([]);
    expect(findIn(lines, "[a-z] \\d / -")).toEqual([]);
  });

  it("of nothing finds nothing", () => expect(findIn(lines, "  ")).toEqual([]));

  it("cuts a line where its hits begin and end, and loses no letter", () => {
    const hits = byLine(findIn(lines, "ever"));
    const cut = pieces("Ever tried. Ever failed.", hits.get(0));
    expect(cut.map((piece) => piece.text).join("")).toBe("Ever tried. Ever failed.");
    expect(cut.map((piece) => piece.hit)).toEqual([0, null, 1, null]);
    expect(pieces("as it is", hits.get(5))).toEqual([{ text: "as it is", hit: null }]);
    expect(pieces("", undefined)).toEqual([{ text: "", hit: null }]);
  });

  it("leaves markup in what was said alone", () => {
    const text = "say <b>aloud</b>";
    expect(pieces(text, byLine(findIn([{ text }], "<b>")).get(0)).map((piece) => piece.text)).toEqual([
      "say ",
      "<b>",
      "aloud</b>",
    ]);
  });

  it("begins with what comes next, and goes around the ends", () => {
    const hits = findIn([{ text: "a" }, { text: "a" }, { text: "a" }], "a");
    expect([nearest(hits, 1), nearest(hits, 9), nearest(hits, -1)]).toEqual([1, 0, 0]);
    expect([turn(2, 1, 3), turn(0, -1, 3), turn(0, 1, 0)]).toEqual([0, 2, 0]);
  });
});

describe("following what is said", () => {
  const did = (...steps: ReaderDid[]) => steps.reduce(after, AT_FIRST);

  it("ends when the reader scrolls it out of sight, and begins when it is back", () => {
    expect(did({ what: "scrolled", sees: true }).follows).toBe(true);
    expect(did({ what: "scrolled", sees: false }).follows).toBe(false);
    expect(did({ what: "scrolled", sees: false }, { what: "scrolled", sees: true }).follows).toBe(true);
  });

  it("begins anew with a jump or on request, and ends with a look at something else", () => {
    expect(did({ what: "looked-elsewhere" }).follows).toBe(false);
    expect(did({ what: "looked-elsewhere" }, { what: "jumped" }).follows).toBe(true);
    expect(did({ what: "looked-elsewhere" }, { what: "returned" }).follows).toBe(true);
  });

  it("rests while a line is edited, and goes on afterwards", () => {
    expect(mayScroll(did({ what: "edits", on: true }))).toBe(false);
    expect(mayScroll(did({ what: "edits", on: true }, { what: "edits", on: false }))).toBe(true);
    expect(
      mayScroll(did({ what: "scrolled", sees: false }, { what: "edits", on: true }, { what: "edits", on: false })),
    ).toBe(false);
  });

  it("moves the page only when the line leaves the middle of it", () => {
    const view = { top: 100, bottom: 1100 };
    expect(correction({ top: 300, bottom: 340 }, view)).toBe(0);
    expect(correction({ top: 900, bottom: 940 }, view)).toBe(500);
    expect(correction({ top: 20, bottom: 60 }, view)).toBe(-380);
  });

  it("does not chase a line that is taller than the page", () => {
    const view = { top: 100, bottom: 400 };
    expect(correction({ top: 190, bottom: 900 }, view)).toBe(0);
    expect(correction({ top: 700, bottom: 1500 }, view)).toBe(510);
  });

  it("knows what can be seen", () => {
    expect(sees({ top: 90, bottom: 101 }, { top: 100, bottom: 200 })).toBe(true);
    expect(sees({ top: 10, bottom: 100 }, { top: 100, bottom: 200 })).toBe(false);
    expect(sees({ top: 200, bottom: 240 }, { top: 100, bottom: 200 })).toBe(false);
  });
});

describe("places in a recording", () => {
  it.each([
    [0, 0, "0:00"],
    [7.9, 0, "0:07"],
    [760, 0, "12:40"],
    [3723, 0, "1:02:03"],
    [7, 4000, "0:00:07"],
    [-1, 0, "0:00"],
  ])("%s s of %s read %s", (seconds, longest, words) => expect(timecode(seconds, longest)).toBe(words));

  it("that are unknown are not zero", () => {
    expect([null, undefined, Number.NaN, Infinity].map((value) => timecode(value))).toEqual(Array(4).fill("–"));
  });

  it("are told in words", () => {
    expect([0, 61, 3600, 7322].map(spokenTime)).toEqual([
      "the beginning",
      "1 minute 1 second",
      "1 hour",
      "2 hours 2 minutes 2 seconds",
    ]);
  });
});
