import { describe, expect, it } from "vitest";
import { askedIn, entityWords, isNarrowed, NO_SCOPE, queryOf } from "@/services/search/asked";
import { hasNoneOfTheWords, whereWords } from "@/services/search/words";

describe("a search in the address bar", () => {
  it("is read back as it was written", () => {
    const asked = { ...askedIn({}), q: "gates", how: "words" as const, kind: "recording" as const, entity: "person:helen" };
    expect(queryOf(asked)).toEqual({ q: "gates", how: "words", kind: "recording", entity: "person:helen" });
    expect(askedIn(queryOf(asked) as Record<string, string>)).toEqual(asked);
  });

  it("shows something also for a link with a slip", () => {
    expect(askedIn({ mode: "sing", how: "loud", kind: "boat", q: ["  gates ", "x"] })).toEqual({
      ...askedIn({}),
      q: "gates",
    });
    expect(queryOf(askedIn({}))).toEqual({});
  });

  it("knows whether it is narrowed, and by whom", () => {
    expect([isNarrowed(NO_SCOPE), isNarrowed({ ...NO_SCOPE, type: "pdf" })]).toEqual([false, true]);
    expect(entityWords("time:9:30")).toBe("9:30 (time)");
  });
});

describe("where a passage stands", () => {
  const place = { page: null, start: null, recording_id: null };

  it("is a page, a slide or a second", () => {
    expect(whereWords({ ...place, type: "pdf", page: 3 })).toBe("PDF, page 3");
    expect(whereWords({ ...place, type: "pptx", page: 2 })).toBe("PPTX, slide 2");
    expect(whereWords({ ...place, type: "markdown", page: 1 })).toBe("markdown");
    expect(whereWords({ ...place, type: "recording", recording_id: "r", start: 83.4 })).toBe("recording at 1:23");
  });
});

describe("passages that have none of the words", () => {
  const mark = { start: 0, end: 4 };

  it("are known by what is marked in them", () => {
    expect(hasNoneOfTheWords([{ highlights: [] }, { highlights: [] }])).toBe(true);
    expect(hasNoneOfTheWords([{ highlights: [] }, { highlights: [mark] }])).toBe(false);
    expect(hasNoneOfTheWords([])).toBe(false);
  });
});
