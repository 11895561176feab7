import { describe, expect, it } from "vitest";
import type { DocumentItem, DocumentRun } from "@/api/types";
import { itemsOf, missingInRun, newRunDraft, runOf, type RunDraft } from "@/services/documents/draft";
import { passageIn, pieces } from "@/services/documents/marking";
import { settingsDraft, settingsOf, settingWords, wrongInSettings } from "@/services/documents/settings";
import { countWords, standingOf } from "@/services/documents/standing";
import { placeWords, retryWords, stepWords, waitingWords } from "@/services/documents/status";
import { amountWords, nameTypeWords } from "@/services/documents/words";
import { withNews } from "@/services/news";
import { money } from "@/format/numbers";
import { isVisible, fromChosen } from "@/services/uploads/dropping";

function run(changes: Partial<DocumentRun> = {}): DocumentRun {
  const counts = { PENDING: 0, RUNNING: 2, COMPLETED: 1, FAILED: 0, CANCELLED: 0 };
  return { status: "RUNNING", count: 3, counts, waiting_for: "children", position: null, ...changes } as DocumentRun;
}

describe("where a run stands", () => {
  it("is said in a sentence, with the time it takes or why nobody can say", () => {
    const eta = { low: 60, high: 300 };
    expect(standingOf(run({ eta })).time).toBe("Done in about 1 m to 5 m.");
    expect(standingOf(run({ eta: null, eta_reason: "no worker serves the queue" })).time).toBe(
      "How long it takes cannot be said yet: no worker serves the queue.",
    );
    expect(standingOf(run({ status: "COMPLETED", count: 3, eta: null, eta_reason: "it has ended" })).time).toBeNull();
    expect(standingOf(run({ status: "COMPLETED", count: 0 })).what).toBe("There was nothing to read.");
    expect(standingOf(run({ status: "PENDING", position: 2 })).what).toBe("It is 2nd in line.");
    expect(standingOf(run({ count: null })).what).toBe("The folder is being listed.");
    expect(standingOf(run({ count: 1 })).what).toBe("The document is being read.");
  });

  it("says first of all that it waits for money", () => {
    const standing = standingOf(run({ waiting_for: "budget" }));
    expect([standing.needsSomebody, standing.what.startsWith("It waits for money")]).toEqual([true, true]);
  });

  it("is counted in a few words for lists", () => {
    const counts = { COMPLETED: 1200, FAILED: 2, CANCELLED: 1, PENDING: 0, RUNNING: 0 };
    expect(countWords(run({ count: 1203, counts }))).toBe("1,200 of 1,203 read, 2 failed, 1 cancelled");
    expect(countWords(run({ count: null }))).toBe("not listed yet");
    expect(countWords(run({ count: null, status: "FAILED" }))).toBe("");
  });
});

describe("where a document is", () => {
  const item = (changes: Partial<DocumentItem>): DocumentItem => changes as DocumentItem;

  it("is the step behind it, or the one at which it failed", () => {
    expect(placeWords(item({ status: "RUNNING", step: "CHUNKED", error: null }))).toBe("Cut into passages");
    const error = { step: "EMBEDDED" } as DocumentItem["error"];
    expect(placeWords(item({ status: "FAILED", step: "FAILED", error }))).toBe("while embedding it");
    const own = { step: "PROOF_READ" } as DocumentItem["error"];
    expect(placeWords(item({ status: "FAILED", step: "FAILED", error: own }))).toBe("at the step “Proof read”");
    expect(stepWords("PROOF_READ")).toBe("Proof read");
  });

  it("says what it waits for", () => {
    expect(waitingWords({ waiting_for: null })).toBeNull();
    expect(waitingWords({ waiting_for: "budget" })).toBe("waiting: over the spend limit");
    expect(waitingWords({ waiting_for: "rate_limited" })).toBe("waiting: the other side asked to slow down");
  });

  it("is as long as its pages, or its characters if it has none", () => {
    expect(amountWords({ unit: "slide", pages: 2, characters: 9 })).toBe("2 slides");
    expect(amountWords({ unit: "text", pages: 1, characters: 1200 })).toBe("1,200 characters");
  });
});

describe("settings", () => {
  it("that were left as they are are not sent", () => {
    expect(settingsOf(settingsDraft())).toEqual({});
    const told = { ocr: false, chunk_tokens: 80, budget_cents: 250, remote: { EMBEDDED: "https://e.example/x" } };
    const before = settingsDraft(told);
    expect(settingsOf(before, before)).toEqual({});
    expect(settingsOf({ ...before, ocr: "yes", embed: false }, before)).toEqual({ ocr: true, embed: false });
  });

  it("are sent in the server's units", () => {
    const remote = "EMBEDDED https://e.example/x\n\nTRANSLATED  https://t.example";
    const draft = { ...settingsDraft(), chunkTokens: "200", budget: "2.5", remote, remoteCents: "0,2" };
    expect(settingsOf(draft)).toEqual({
      chunk_tokens: 200,
      budget_cents: 250,
      remote: { EMBEDDED: "https://e.example/x", TRANSLATED: "https://t.example" },
      remote_cents: 0.2,
    });
  });

  it("that cannot be are told before they are sent", () => {
    const wrong = (changes: object): string | null => wrongInSettings({ ...settingsDraft(), ...changes });
    expect(wrong({})).toBeNull();
    for (const chunkTokens of ["31", "1025", "1.5", "x"]) expect(wrong({ chunkTokens })).toMatch(/32 to 1,024/);
    expect(wrong({ budget: "-1" })).toMatch(/amount/);
    expect(wrong({ remote: "embedded https://x" })).toMatch(/no step/);
  });

  it("are told in words", () => {
    const told = { embed: false, budget_cents: 250, ocr: null, folders: ["s3://a/b/"], remote: { EMBEDDED: "https://x" } };
    expect(settingWords(told, money)).toEqual([
      ["Found by meaning", "no"],
      ["May spend", "$2.50"],
      ["Folders", "s3://a/b/"],
      ["Steps elsewhere", "EMBEDDED https://x"],
    ]);
  });
});

describe("a new run", () => {
  const draft = (changes: Partial<RunDraft>): RunDraft => ({ ...newRunDraft(), ...changes });

  it("names files with the place they had in their folder", () => {
    const files = [
      { assetId: "a", path: "canal/a.pdf" },
      { assetId: "b", path: null },
    ];
    expect(itemsOf(draft({ files }))).toEqual([
      { asset_id: "a", source: "canal/a.pdf" },
      { asset_id: "b", source: null },
    ]);
    expect(missingInRun(draft({ files }))).toBeNull();
    expect(missingInRun(draft({}))).toBe("Choose files or a folder.");
  });

  it("says which address is none", () => {
    const addresses = "https://a.example/x\n https://a.example/x \nftp://b";
    expect(missingInRun(draft({ from: "url", addresses }))).toMatch(/“ftp:\/\/b” is no address/);
    expect(itemsOf(draft({ from: "url", addresses: "https://a.example/x\nhttps://a.example/x" }))).toHaveLength(1);
    expect(missingInRun(draft({ from: "bucket", folders: "https://a.example" }))).toMatch(/no folder of a bucket/);
    expect(missingInRun(draft({ from: "bucket", folders: "s3://a/b/" }))).toBeNull();
  });

  it("is sent with what was said, and nothing else", () => {
    const sent = runOf(draft({ from: "bucket", folders: "s3://a/b/", title: " Reports ", priority: "bulk" }));
    const items = [{ uri: "s3://a/b/" }];
    expect(sent).toEqual({ kind: "bucket", items, settings: {}, priority: "bulk", title: "Reports" });
  });
});

describe("marks in a text", () => {
  it("count characters as the server does, and do not overlap", () => {
    const found = pieces("🚢 the barge", [
      { start: 6, end: 11 },
      { start: 0, end: 1 },
      { start: 8, end: 9 },
    ]);
    expect(found.map(({ text, on }) => (on ? `[${text}]` : text)).join("")).toBe("[🚢] the [barge]");
  });

  it("find a passage in its page however its white space was cut", () => {
    const page = "Before.\nThe keeper (of\nthe lock) opens at 9. After.";
    expect(passageIn(page, "The keeper (of the lock) opens at 9.").find(({ on }) => on)?.text).toBe(
      "The keeper (of\nthe lock) opens at 9.",
    );
    expect(passageIn(page, "something else")).toEqual([{ text: page, on: false }]);
    expect(passageIn(page, "")).toEqual([{ text: page, on: false }]);
  });
});

describe("rows that are pushed", () => {
  it("change in place, and go when they are gone", () => {
    const rows = [
      { id: "a", name: "one", more: 1 },
      { id: "b", name: "two", more: 2 },
    ];
    const told = withNews(rows, [
      { id: "a", row: { name: "new" } },
      { id: "b", row: null },
      { id: "c", row: { name: "x" } },
    ]);
    expect(told).toEqual([{ id: "a", name: "new", more: 1 }]);
    expect(withNews(rows, [{ id: "c", row: null }])).toBe(rows);
  });
});

describe("a folder", () => {
  it("is taken whole but for what is kept hidden", () => {
    const file = (path: string): File =>
      Object.assign(new File(["x"], path.split("/").pop() ?? ""), { webkitRelativePath: path }) as File;
    const paths = ["canal/a.pdf", "canal/.git/config", "canal/README", "canal/.DS_Store"];
    const files = paths.map((path) => {
      const made = file(path);
      Object.defineProperty(made, "webkitRelativePath", { value: path });
      return made;
    });
    expect(fromChosen(files, isVisible).map(({ path }) => path)).toEqual(["canal/a.pdf", "canal/README"]);
  });
});

describe("what can be retried of a run", () => {
  const words = (counts: Record<string, number>) => retryWords({ counts });

  it("is what failed, or what nobody read because it was stopped", () => {
    expect(words({ FAILED: 1 })).toBe("what failed");
    expect(words({ FAILED: 2, CANCELLED: 3 })).toBe("5 that failed");
    expect(words({ CANCELLED: 1 })).toBe("what was cancelled");
    expect(words({ CANCELLED: 3 })).toBe("3 that were cancelled");
    expect(words({})).toBe("what failed");
  });
});

describe("what a name is of", () => {
  it("is written as people write it", () => {
    expect(["person", "iban", "url", "email"].map(nameTypeWords)).toEqual(["person", "IBAN", "web address", "e-mail"]);
  });
});
