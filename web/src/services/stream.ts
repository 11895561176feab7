/**
 * A push stream that does not give up: it resumes after the last id it has seen, waits longer after each failure, and
 * notices a connection that died silently because the server's heartbeats stop.
 */
import { createSseParser, type SseMessage, type SseParser } from "@/services/sse";

export type StreamStatus = "connecting" | "open" | "reconnecting" | "refused";

export interface StreamOptions {
  url: string;
  onMessages(messages: SseMessage[]): void;
  onStatus(status: StreamStatus): void;
  /** The place to resume from has moved on. */
  onId?(id: string): void;
  /** Where to resume; empty means from now on. */
  lastId?: string;
  fetch?: typeof fetch;
  /** Silence after which the connection counts as dead. The server sends something at least every 15 s. */
  silenceMs?: number;
  random?: () => number;
}

const FIRST_DELAY = 500;
const LONGEST_DELAY = 5000;

/** Full jitter over a doubling ceiling, so that a restarted server is not met by every tab at once. */
export function backoff(failures: number, random: () => number, first = FIRST_DELAY): number {
  const ceiling = Math.min(LONGEST_DELAY, first * 2 ** Math.min(failures, 10));
  return Math.round(ceiling / 2 + (random() * ceiling) / 2);
}

export class PushStream {
  private readonly options: StreamOptions;
  private readonly fetch: typeof fetch;
  private readonly random: () => number;
  private connection: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wake: (() => void) | null = null;
  private failures = 0;
  private firstDelay = FIRST_DELAY;
  private stopped = false;
  lastId: string;

  constructor(options: StreamOptions) {
    this.options = options;
    this.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.random = options.random ?? Math.random;
    this.lastId = options.lastId ?? "";
  }

  start(): void {
    this.options.onStatus("connecting");
    void this.run();
  }

  stop(): void {
    this.stopped = true;
    this.connection?.abort();
    this.retryNow();
  }

  /** Skips the rest of a wait: the network is back, or the reader came back to this tab. */
  retryNow(): void {
    this.wake?.();
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const again = await this.connectOnce();
      if (this.stopped || !again) return;
      this.options.onStatus("reconnecting");
      await this.pause(backoff(this.failures, this.random, this.firstDelay));
      this.failures += 1;
    }
  }

  /** One connection from open to end. False when the server says that coming back is pointless. */
  private async connectOnce(): Promise<boolean> {
    const connection = new AbortController();
    this.connection = connection;
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (this.lastId) headers["Last-Event-ID"] = this.lastId;
      this.expectLife(connection);
      const response = await this.fetch(this.options.url, { headers, signal: connection.signal, cache: "no-store" });
      if (!response.ok || !response.body) return this.judge(response.status);
      this.failures = 0;
      this.options.onStatus("open");
      await this.read(response.body, connection);
    } catch {
      // Every way a connection can end is answered the same: come back.
    } finally {
      clearTimeout(this.timer);
      connection.abort();
    }
    return true;
  }

  private judge(status: number): boolean {
    if (status !== 401 && status !== 403) return true;
    this.options.onStatus("refused");
    return false;
  }

  private async read(body: ReadableStream<Uint8Array>, connection: AbortController): Promise<void> {
    const parser = createSseParser();
    const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
    for (;;) {
      this.expectLife(connection);
      const { done, value } = await reader.read();
      if (done || this.stopped) return;
      this.deliver(parser, value);
    }
  }

  private deliver(parser: SseParser, text: string): void {
    const messages = parser.feed(text);
    if (messages.length) this.options.onMessages(messages);
    this.firstDelay = parser.retry() ?? this.firstDelay;
    const id = parser.lastId();
    if (!id || id === this.lastId) return;
    this.lastId = id;
    this.options.onId?.(id);
  }

  private expectLife(connection: AbortController): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => connection.abort(), this.options.silenceMs ?? 40_000);
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      function done(): void {
        clearTimeout(timer);
        resolve();
      }
      this.wake = done;
    });
  }
}
