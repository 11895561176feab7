/**
 * One push stream per browser, not per tab: browsers allow about six connections to a host over HTTP/1.1, and streams
 * would use them up. The tab that holds a lock reads the stream and passes everything on; when it closes, the next tab
 * gets the lock and resumes after the last id it was passed. Where locks are missing every tab reads for itself.
 */
import type { SseMessage } from "@/services/sse";
import { PushStream, type StreamStatus } from "@/services/stream";

type Passed = { messages: SseMessage[] } | { status: StreamStatus } | { id: string } | { ask: "status" };

export interface SharedStreamOptions {
  url: string;
  /** Tabs with the same name share a stream: the account and the tenant it acts for. */
  name: string;
  onMessages(messages: SseMessage[]): void;
  onStatus(status: StreamStatus): void;
}

export interface SharedStream {
  stop(): void;
  retryNow(): void;
}

export function openSharedStream(options: SharedStreamOptions): SharedStream {
  if (!("locks" in navigator) || typeof BroadcastChannel === "undefined") return ownStream(options);
  return leaderStream(options);
}

function ownStream(options: SharedStreamOptions): SharedStream {
  const stream = new PushStream(options);
  stream.start();
  return stream;
}

function leaderStream(options: SharedStreamOptions): SharedStream {
  const channel = new BroadcastChannel(`towpath.events.${options.name}`);
  const giveUp = new AbortController();
  let lastId = "";
  let status: StreamStatus = "connecting";
  let stream: PushStream | null = null;
  let release: (() => void) | null = null;

  function tell(passed: Passed): void {
    channel.postMessage(passed);
  }

  function become(next: StreamStatus): void {
    status = next;
    options.onStatus(next);
  }

  channel.onmessage = (event: MessageEvent<Passed>) => {
    const passed = event.data;
    if ("messages" in passed) options.onMessages(passed.messages);
    else if ("id" in passed) lastId = passed.id;
    else if ("status" in passed) become(passed.status);
    else if (stream) tell({ status });
  };

  function lead(): Promise<void> {
    stream = new PushStream({
      url: options.url,
      lastId,
      onMessages(messages) {
        tell({ messages });
        options.onMessages(messages);
      },
      onId(id) {
        lastId = id;
        tell({ id });
      },
      onStatus(next) {
        become(next);
        tell({ status: next });
      },
    });
    stream.start();
    return new Promise((resolve) => (release = resolve));
  }

  options.onStatus("connecting");
  tell({ ask: "status" });
  navigator.locks.request(`towpath.events.${options.name}`, { signal: giveUp.signal }, lead).catch(() => undefined);

  return {
    stop() {
      giveUp.abort();
      stream?.stop();
      release?.();
      channel.close();
    },
    retryNow: () => stream?.retryNow(),
  };
}
