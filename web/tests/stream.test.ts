import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SseMessage } from "@/services/sse";
import { backoff, PushStream, type StreamStatus } from "@/services/stream";

interface Connection {
  headers: Record<string, string>;
  send(text: string): void;
  end(): void;
  readonly aborted: boolean;
}

/** A server in memory: answers with streams that the test writes to, or with the statuses it lists. */
function server(refusals: number[] = []) {
  const connections: Connection[] = [];
  const fetch = (_url: unknown, init?: RequestInit): Promise<Response> => {
    const status = refusals.shift();
    if (status === 0) return Promise.reject(new TypeError("no route"));
    if (status) return Promise.resolve(new Response("", { status }));
    let sink: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (sink = controller) });
    const signal = init?.signal;
    signal?.addEventListener("abort", () => {
      try {
        sink.error(new DOMException("aborted", "AbortError"));
      } catch {
        // It had ended already.
      }
    });
    connections.push({
      headers: init?.headers as Record<string, string>,
      send: (text) => sink.enqueue(new TextEncoder().encode(text)),
      end: () => sink.close(),
      get aborted() {
        return signal?.aborted ?? false;
      },
    });
    return Promise.resolve(new Response(body, { status: 200 }));
  };
  return { connections, fetch: fetch as typeof globalThis.fetch };
}

function listen(options: { refusals?: number[]; silenceMs?: number } = {}) {
  const { connections, fetch } = server(options.refusals);
  const messages: SseMessage[] = [];
  const statuses: StreamStatus[] = [];
  const stream = new PushStream({
    url: "/api/events",
    fetch,
    random: () => 0,
    silenceMs: options.silenceMs ?? 40_000,
    onMessages: (more) => void messages.push(...more),
    onStatus: (status) => void statuses.push(status),
  });
  stream.start();
  return { connections, messages, statuses, stream };
}

describe("a push stream", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  async function settle(ms = 0): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms);
  }

  it("resumes after the last id it has seen when the server restarts", async () => {
    const { connections, messages, statuses, stream } = listen();
    await settle();
    connections[0]?.send("id: t5\nevent: job\ndata: {}\n\n");
    await settle();
    connections[0]?.end();
    await settle(1000);
    expect(connections).toHaveLength(2);
    expect(connections[0]?.headers["Last-Event-ID"]).toBeUndefined();
    expect(connections[1]?.headers["Last-Event-ID"]).toBe("t5");
    expect(messages.map((message) => message.id)).toEqual(["t5"]);
    expect(statuses).toEqual(["connecting", "open", "reconnecting", "open"]);
    stream.stop();
  });

  it("keeps trying while the server is away, with growing pauses", async () => {
    const { connections, statuses, stream } = listen({ refusals: [0, 502, 0] });
    await settle(0);
    expect(connections).toHaveLength(0);
    await settle(10_000);
    expect(connections).toHaveLength(1);
    expect(statuses.at(-1)).toBe("open");
    expect([0, 1, 2, 3].map((failures) => backoff(failures, () => 0))).toEqual([250, 500, 1000, 2000]);
    expect(backoff(50, () => 1)).toBe(5000);
    stream.stop();
  });

  it("gives up when the session is not accepted", async () => {
    const { statuses, connections } = listen({ refusals: [401] });
    await settle(120_000);
    expect(statuses).toEqual(["connecting", "refused"]);
    expect(connections).toHaveLength(0);
  });

  it("takes a connection for dead that has fallen silent", async () => {
    const { connections, stream } = listen({ silenceMs: 40_000 });
    await settle();
    await settle(39_000);
    connections[0]?.send(": heartbeat\n\n");
    await settle(39_000);
    expect(connections[0]?.aborted).toBe(false);
    await settle(2000);
    expect(connections[0]?.aborted).toBe(true);
    await settle(1000);
    expect(connections).toHaveLength(2);
    stream.stop();
  });

  it("comes back at once when it is told that the network is there again", async () => {
    const { connections, stream } = listen({ refusals: [0, 0, 0, 0, 0, 0] });
    for (let tries = 0; tries < 6; tries += 1) {
      await settle();
      stream.retryNow();
    }
    await settle();
    expect(connections).toHaveLength(1);
    stream.stop();
  });

  it("ends for good when it is stopped", async () => {
    const { connections, stream } = listen();
    await settle();
    stream.stop();
    await settle(60_000);
    expect(connections).toHaveLength(1);
    expect(connections[0]?.aborted).toBe(true);
  });
});
