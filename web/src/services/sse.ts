/** The text/event-stream format, as a parser that is fed whatever pieces the network delivers. */

export interface SseMessage {
  id: string;
  event: string;
  data: string;
}

export interface SseParser {
  /** The messages completed by this piece of text. */
  feed(text: string): SseMessage[];
  /** Where to resume: the id of the last whole block, also of one without data. */
  lastId(): string;
  /** The server's `retry:` wish in milliseconds, if it has stated one. */
  retry(): number | null;
}

export function createSseParser(): SseParser {
  let rest = "";
  let id = "";
  let lastId = "";
  let event = "";
  let data: string[] = [];
  let retry: number | null = null;

  function field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name === "id" && !value.includes("\0")) id = value;
    else if (name === "retry" && /^\d+$/.test(value)) retry = Number(value);
  }

  function dispatch(): SseMessage | null {
    lastId = id;
    const message = data.length ? { id, event: event || "message", data: data.join("\n") } : null;
    event = "";
    data = [];
    return message;
  }

  function feed(text: string): SseMessage[] {
    const done: SseMessage[] = [];
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        const message = dispatch();
        if (message) done.push(message);
      } else if (!line.startsWith(":")) field(line);
    }
    return done;
  }

  return { feed, lastId: () => lastId, retry: () => retry };
}
