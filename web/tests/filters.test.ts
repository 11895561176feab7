import { describe, expect, it } from "vitest";
import {
  apiFilter,
  filtersFromQuery,
  isFiltered,
  matches,
  momentOf,
  NO_FILTERS,
  queryFromFilters,
} from "@/services/filters";
import { job } from "./rows";

const NOW = Date.parse("2026-11-16T12:00:00Z");

describe("filters in the address", () => {
  it("come back as they went", () => {
    const filters = {
      ...NO_FILTERS,
      state: ["running" as const, "failed" as const],
      operation: "resize",
      text: "boat",
      after: "1h",
    };
    const query = queryFromFilters(filters);
    expect(query).toEqual({ state: ["running", "failed"], operation: "resize", text: "boat", after: "1h" });
    expect(filtersFromQuery(query as Record<string, string | string[]>)).toEqual(filters);
  });

  it("leave the address empty when there are none", () => {
    expect(queryFromFilters({ ...NO_FILTERS, state: [] })).toEqual({});
    expect(isFiltered({ ...NO_FILTERS, state: [] })).toBe(false);
  });

  it("ignore what they do not understand", () => {
    expect(filtersFromQuery({ state: ["sleeping", "failed"], colour: "blue", queue: ["a", "b"] })).toEqual({
      ...NO_FILTERS,
      state: ["failed"],
      queue: "a",
    });
  });

  it("turn a window into a moment", () => {
    expect(momentOf("1h", NOW)).toBe("2026-11-16T11:00:00.000Z");
    expect(momentOf("2026-11-01T00:00:00Z", NOW)).toBe("2026-11-01T00:00:00.000Z");
    expect(momentOf("soon", NOW)).toBeUndefined();
  });

  it("ask the server only for what is set", () => {
    expect(apiFilter({ ...NO_FILTERS, state: [], queue: "images", after: "24h" }, NOW)).toEqual({
      queue: "images",
      created_after: "2026-11-15T12:00:00.000Z",
    });
  });
});

describe("a pushed row against the filter", () => {
  const row = job("0199aaaa-0000", {
    state: "failed",
    key: "Boat-7",
    error: { kind: "fatal", error_class: "Fatal", message: "No such file", remedy: null },
  });

  it.each([
    [{}, true],
    [{ state: ["failed" as const] }, true],
    [{ state: ["running" as const] }, false],
    [{ operation: "resize", queue: "images", tenant: "acme" }, true],
    [{ queue: "speech" }, false],
    [{ text: "0199AAAA" }, true],
    [{ text: "boat" }, true],
    [{ text: "no such" }, true],
    [{ text: "aaaa" }, false],
    [{ parent: "x" }, false],
    [{ created_after: "2026-11-16T10:00:00Z" }, true],
    [{ created_after: "2026-11-16T10:00:01Z" }, false],
    [{ created_before: "2026-11-16T10:00:00Z" }, false],
  ])("%j: %s", (asked, expected) => expect(matches(row, asked)).toBe(expected));

  it("does not search the error of a job that has not failed", () => {
    expect(matches({ ...row, state: "queued" }, { text: "no such" })).toBe(false);
  });
});
