// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { saidIn } from "@/services/recordings/questions";
import { hitOf, snippet } from "@/services/recordings/hits";
import { tagsIn } from "@/services/recordings/tags";

const told = (text: string, highlights: { start: number; end: number }[]): string =>
  snippet(text, highlights)
    .map(({ text: part, found }) => (found ? `[${part}]` : part))
    .join("");

test("a snippet marks what was found, counted in characters as people see them", () => {
  expect(told("🎉🎉 the gates open", [{ start: 7, end: 12 }])).toBe("🎉🎉 the [gates] open");
});

test("a long passage is cut around the first word that was found, at words", () => {
  const text = `${"word ".repeat(100)}gates ${"more ".repeat(100)}`;
  const shown = told(text, [{ start: 500, end: 505 }]);
  expect(shown).toMatch(/^… word .* \[gates\] more .* …$/);
  expect(shown.length).toBeLessThan(300);
});

test("what was found by meaning alone is shown from its beginning", () => {
  expect(told("the gates open", [])).toBe("the gates open");
});

test("a hit opens at a whole second, and what is no recording is none", () => {
  const result = {
    passage_id: "recording/r1/0",
    document_id: null,
    recording_id: "r1",
    type: "recording",
    title: "Walk",
    page: null,
    start: 83.9,
    end: 90,
    text: "the gates",
    link: "/recordings/r1?t=83",
    highlights: [],
    score: 1,
  };
  expect(hitOf(result)).toMatchObject({ recordingId: "r1", second: 83, title: "Walk" });
  expect(hitOf({ ...result, recording_id: null })).toBeNull();
});

test("an answer has each second once, in the order of the recording", () => {
  const sentences = [{ text: "They open.", passages: ["a", "b", "c"], starts: [9.5, 4.2, 9.9] }];
  expect(saidIn({ sentences })).toEqual([{ text: "They open.", seconds: [4, 9] }]);
});

test("tags are what stands between commas", () => {
  expect(tagsIn(" Board, 2026,, ")).toEqual(["Board", "2026"]);
});
