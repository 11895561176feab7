// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { begunBefore, rememberBegun } from "@/services/uploads/memory";

const file = (name: string, lastModified = 1): File => new File(["content"], name, { lastModified });

describe("an upload that was begun", () => {
  beforeEach(() => localStorage.clear());
  afterEach(() => vi.useRealTimers());

  it("is found again by the same file for the same purpose, until it has arrived", () => {
    rememberBegun(file("a.pdf"), "document", "/api/uploads/1");
    expect(begunBefore(file("a.pdf"), "document")).toBe("/api/uploads/1");
    expect(begunBefore(file("a.pdf"), "batch")).toBeNull();
    expect(begunBefore(file("a.pdf", 2), "document")).toBeNull();
    rememberBegun(file("a.pdf"), "document", null);
    expect(begunBefore(file("a.pdf"), "document")).toBeNull();
  });

  it("is forgotten when the server has forgotten it, and when there are very many", () => {
    vi.useFakeTimers({ now: 0 });
    rememberBegun(file("a.pdf"), "document", "/api/uploads/1");
    vi.setSystemTime(21 * 3600 * 1000);
    expect(begunBefore(file("a.pdf"), "document")).toBeNull();
    for (let number = 0; number < 60; number += 1)
      rememberBegun(file(`${number}.pdf`), "document", `/api/uploads/${number}`);
    expect(begunBefore(file("0.pdf"), "document")).toBeNull();
    expect(begunBefore(file("59.pdf"), "document")).toBe("/api/uploads/59");
  });
});
