import { describe, expect, test } from "vitest";
import { linkTo, placeIn, plainText, quoted, secondsIn } from "@/services/recordings/places";
import { heights, loudness } from "@/services/recordings/waveform";

describe("an address of a second", () => {
  test.each([
    ["83", 83],
    ["83.5", 83.5],
    ["83s", 83],
    ["1m23s", 83],
    ["1h2m3s", 3723],
    ["1:23", 83],
    ["1:02:03", 3723],
    ["0", 0],
  ])("%s", (text, seconds) => expect(secondsIn(text)).toBe(seconds));

  test.each(["", "abc", "-5", "1:2:3:4", "NaN", "1e9x"])("%s is none", (text) => expect(secondsIn(text)).toBeNull());

  test("stands in the query or behind the hash", () => {
    expect(placeIn("83", "")).toBe(83);
    expect(placeIn(undefined, "#t=1:23")).toBe(83);
    expect(placeIn(undefined, "#t=83,90")).toBe(83);
    expect(placeIn(undefined, "#transcript")).toBeNull();
    expect(placeIn(["1", "2"], "")).toBeNull();
  });
});

test("a quote says who said it, where, and leads there", () => {
  const line = { start: 83.7, speaker: "Sam", text: "Fail better." };
  expect(quoted(line, "Readings", "https://here/recordings/1")).toBe(
    "“Fail better.”\n— Sam, Readings, 1:23\nhttps://here/recordings/1?t=83\n",
  );
  expect(linkTo("/x", 0.9)).toBe("/x?t=0");
});

test("the text is a paragraph for each turn", () => {
  const lines = [
    { speaker: "A", text: "One." },
    { speaker: "A", text: "Two." },
    { speaker: null, text: "Three." },
  ];
  expect(plainText(lines)).toBe("A: One. Two.\n\nThree.\n");
});

describe("the waveform", () => {
  test("is drawn against its loudest moment, and silence stays flat", () => {
    expect(heights(Uint8Array.of(0, 64, 0, 16), 4)).toEqual([0, 1, 0, 0.5]);
    expect(Math.max(...heights(Uint8Array.of(1, 1), 2))).toBeLessThan(0.25);
  });

  test("loses no moment when there are fewer stretches, and fills more", () => {
    expect(heights(Uint8Array.of(0, 0, 0, 100), 2)).toEqual([0, 1]);
    expect(heights(Uint8Array.of(100, 0), 4)).toEqual([1, 1, 0, 0]);
  });

  test("is there or not", () => {
    expect(loudness(null)).toBeNull();
    expect(loudness("")).toBeNull();
    expect([...(loudness("AP8=") ?? [])]).toEqual([0, 255]);
  });
});
