import { describe, expect, it } from "vitest";
import { createSseParser } from "@/services/sse";

describe("the stream's format", () => {
  it("is put together from pieces that end anywhere", () => {
    const parser = createSseParser();
    const text = 'retry: 1000\n\nid: a1\nevent: job\ndata: {"x":1}\n\n: heartbeat\n\nid: a2\nevent: reset\ndata: {}\n\n';
    const found = [...text].flatMap((character) => parser.feed(character));
    expect(found).toEqual([
      { id: "a1", event: "job", data: '{"x":1}' },
      { id: "a2", event: "reset", data: "{}" },
    ]);
    expect(parser.retry()).toBe(1000);
  });

  it("joins several data lines and understands carriage returns", () => {
    const parser = createSseParser();
    expect(parser.feed("data: one\r\ndata: two\r\n\r\n")).toEqual([{ id: "", event: "message", data: "one\ntwo" }]);
  });

  it("moves its place along with a block that has no data", () => {
    const parser = createSseParser();
    expect(parser.feed("id: a7\n\n")).toEqual([]);
    expect(parser.lastId()).toBe("a7");
  });

  it("does not move its place before the block is whole", () => {
    const parser = createSseParser();
    parser.feed("id: a1\ndata: x\n\nid: a2\ndata: y\n");
    expect(parser.lastId()).toBe("a1");
  });
});
