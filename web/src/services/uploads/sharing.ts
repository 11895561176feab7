/**
 * One engine per browser, not per tab: two would send the same file twice. The tab that holds a lock runs it and tells the
 * others how things stand; they pass on what their readers want, files included. When that tab closes, the next one
 * finds everything in the browser's storage and goes on.
 */
import type { NewFile, UploadEngine } from "@/services/uploads/engine";
import type { UploadOptions, UploadRow } from "@/services/uploads/row";

export type Wish =
  | { do: "add"; files: NewFile[]; options: UploadOptions; start: boolean }
  | { do: "start" | "remove" | "forget"; ids: string[] }
  | { do: "change"; ids: string[]; options: Partial<UploadOptions> }
  | { do: "goOn" };

type Passed = { wish: Wish } | { rows: UploadRow[] } | { known: string[] } | { ask: "rows" };

export interface SharedUploads {
  wish(wish: Wish): void;
  stop(): void;
}

export interface SharingOptions {
  name: string;
  /** Makes the engine, when there is something for it to do. */
  load(onRows: (rows: UploadRow[]) => void): Promise<UploadEngine>;
  /** Whether something from an earlier visit waits. */
  expecting(): boolean;
  onRows(rows: UploadRow[]): void;
  /** Files that were staged already. */
  onKnown(names: string[]): void;
  onFailure(caught: unknown): void;
}

export function apply(engine: UploadEngine, wish: Wish): string[] {
  switch (wish.do) {
    case "add":
      return engine.add(wish.files, wish.options, wish.start);
    case "change":
      engine.change(wish.ids, wish.options);
      break;
    case "goOn":
      engine.goOn();
      break;
    default:
      engine[wish.do](wish.ids);
  }
  return [];
}

const NOBODY_ANSWERS_MS = 400;

export function shareUploads(options: SharingOptions): SharedUploads {
  const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(`towpath.uploads.${options.name}`);
  const giveUp = new AbortController();
  let engine: Promise<UploadEngine> | null = null;
  let leading = false;
  let stopped = false;
  let release: (() => void) | null = null;
  let rows: UploadRow[] = [];
  let early: Wish[] = [];
  /** Files that were passed on to a tab which may be closing. */
  let unheard: Wish[] = [];
  let followed = false;

  function tell(passed: Passed): void {
    channel?.postMessage(passed);
  }

  function show(next: UploadRow[]): void {
    if (stopped) return;
    rows = next;
    tell({ rows });
    options.onRows(rows);
  }

  async function fulfil(wish: Wish): Promise<void> {
    if (!engine && wish.do !== "add") return;
    try {
      engine ??= options.load(show);
      const known = apply(await engine, wish);
      if (!known.length) return;
      tell({ known });
      options.onKnown(known);
    } catch (caught) {
      engine = null;
      options.onFailure(caught);
    }
  }

  function lead(): Promise<void> {
    if (stopped) return Promise.resolve();
    leading = true;
    if (options.expecting()) (engine = options.load(show)).catch(options.onFailure);
    else tell({ rows });
    for (const wish of [...unheard, ...early]) void fulfil(wish);
    early = unheard = [];
    return new Promise((resolve) => (release = resolve));
  }

  if (channel)
    channel.onmessage = ({ data }: MessageEvent<Passed>) => {
      if ("wish" in data) void (leading && fulfil(data.wish));
      else if ("ask" in data) void (leading && tell({ rows }));
      else if ("known" in data) options.onKnown(data.known);
      else {
        followed = true;
        for (const wish of early) tell({ wish });
        early = unheard = [];
        rows = data.rows;
        options.onRows(rows);
      }
    };

  tell({ ask: "rows" });
  if ("locks" in navigator)
    navigator.locks.request(`towpath.uploads.${options.name}`, { signal: giveUp.signal }, lead).catch(() => undefined);
  // Without locks (plain HTTP on a network) the first tab leads, and the others until it is reloaded.
  else setTimeout(() => void (followed || lead()), NOBODY_ANSWERS_MS);

  return {
    wish(wish) {
      if (leading) void fulfil(wish);
      else if (followed) {
        tell({ wish });
        if (wish.do === "add") unheard.push(wish);
      } else early.push(wish);
    },
    stop() {
      stopped = true;
      giveUp.abort();
      void engine?.then((running) => running.stop());
      release?.();
      channel?.close();
    },
  };
}
