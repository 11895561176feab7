import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { NewFile, UploadEngine } from "@/services/uploads/engine";
import { NO_OPTIONS, type UploadRow } from "@/services/uploads/row";
import { shareUploads, type SharedUploads, type Wish } from "@/services/uploads/sharing";
import { upload } from "./recordingRows";

/** What the browser keeps: it outlives every tab. */
let kept: UploadRow[] = [];
const open: SharedUploads[] = [];
let names = 0;

interface Tab {
  shared: SharedUploads;
  rows: UploadRow[];
  known: string[];
  engines: number;
  stopped: boolean;
}

function tab(name: string): Tab {
  const found = { rows: [], known: [], engines: 0, stopped: false } as Omit<Tab, "shared"> as Tab;
  found.shared = shareUploads({
    name,
    expecting: () => kept.length > 0,
    load(onRows) {
      found.engines += 1;
      return Promise.resolve(engineOf(found, onRows));
    },
    onRows: (rows) => (found.rows = rows),
    onKnown: (known) => (found.known = known),
    onFailure: (caught) => expect.unreachable(String(caught)),
  });
  open.push(found.shared);
  return found;
}

function engineOf(owner: Tab, onRows: (rows: UploadRow[]) => void): UploadEngine {
  const show = (): void => onRows(kept);
  show();
  return {
    add(files) {
      const fresh = files.filter(({ file }) => !kept.some((row) => row.id === file.name));
      kept = [...kept, ...fresh.map(({ file }) => upload(file.name))];
      show();
      return files.filter((one) => !fresh.includes(one)).map(({ file }) => file.name);
    },
    start: () => undefined,
    change: () => undefined,
    forget: () => undefined,
    goOn: () => undefined,
    remove(ids) {
      kept = kept.filter((row) => !ids.includes(row.id));
      show();
    },
    stop: () => (owner.stopped = true),
  };
}

const file = (name: string): NewFile => ({ file: { name } as File });
const add = (name: string): Wish => ({ do: "add", files: [file(name)], options: { ...NO_OPTIONS }, start: false });
const ids = (found: Tab): string[] => found.rows.map((row) => row.id);
const name = (): string => `test-${(names += 1)}`;

/** Every browser of today has them; Node has since 24. */
const hasLocks = typeof navigator !== "undefined" && "locks" in navigator;

describe("uploads of several tabs", () => {
  beforeEach((context) => context.skip(!hasLocks, "navigator.locks is missing here: run the tests with Node 24 or newer"));
  afterEach(() => {
    for (const shared of open.splice(0)) shared.stop();
    kept = [];
  });

  it("load no engine while there is nothing to upload", async () => {
    const one = tab(name());
    one.shared.wish({ do: "goOn" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(one.engines).toBe(0);
  });

  it("are sent by one of them and shown by all", async () => {
    const where = name();
    const one = tab(where);
    one.shared.wish(add("first"));
    await vi.waitFor(() => expect(ids(one)).toEqual(["first"]));
    const two = tab(where);
    await vi.waitFor(() => expect(ids(two)).toEqual(["first"]));
    two.shared.wish(add("second"));
    await vi.waitFor(() => expect(ids(one)).toEqual(["first", "second"]));
    await vi.waitFor(() => expect(ids(two)).toEqual(["first", "second"]));
    expect([one.engines, two.engines]).toEqual([1, 0]);
  });

  it("go on in another tab when the one that sent them closes", async () => {
    const where = name();
    const one = tab(where);
    one.shared.wish(add("first"));
    await vi.waitFor(() => expect(one.engines).toBe(1));
    const two = tab(where);
    await vi.waitFor(() => expect(ids(two)).toEqual(["first"]));
    one.shared.stop();
    await vi.waitFor(() => expect(two.engines).toBe(1));
    expect(one.stopped).toBe(true);
    two.shared.wish({ do: "remove", ids: ["first"] });
    await vi.waitFor(() => expect(ids(two)).toEqual([]));
  });

  it("are taken up where they were left by an earlier visit", async () => {
    kept = [upload("old")];
    const one = tab(name());
    await vi.waitFor(() => expect(ids(one)).toEqual(["old"]));
  });

  it("say which files are on the list already", async () => {
    const one = tab(name());
    one.shared.wish(add("first"));
    one.shared.wish(add("first"));
    await vi.waitFor(() => expect(one.known).toEqual(["first"]));
    expect(ids(one)).toEqual(["first"]);
  });

  it("of other people are not seen", async () => {
    const one = tab(name());
    const two = tab(name());
    one.shared.wish(add("mine"));
    await vi.waitFor(() => expect(ids(one)).toEqual(["mine"]));
    expect(ids(two)).toEqual([]);
  });
});
