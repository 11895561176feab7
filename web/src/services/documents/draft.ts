/** A run as somebody is writing it: what is to be read, what is missing, and what is sent. */
import type { NewItem, NewRun } from "@/api/types";
import { addressesIn } from "@/services/batches/speechDraft";
import { settingsDraft, settingsOf, wrongInSettings, type SettingsDraft } from "@/services/documents/settings";

export type From = "upload" | "url" | "bucket";

/** A file that has arrived. `path` is where it was in a folder: the next file from there is the same document. */
export interface ArrivedFile {
  assetId: string;
  path: string | null;
}

export interface RunDraft {
  from: From;
  files: ArrivedFile[];
  addresses: string;
  folders: string;
  title: string;
  priority: "" | "interactive" | "bulk";
  settings: SettingsDraft;
}

export const MOST_ITEMS = 10_000;
const WEB = /^https?:\/\/\S+$/i;
const FOLDER = /^(s3|gs|az):\/\/\S+$/i;

export function newRunDraft(): RunDraft {
  const nothing = { files: [], addresses: "", folders: "", title: "", priority: "" as const };
  return { from: "upload", ...nothing, settings: settingsDraft() };
}

export function itemsOf(draft: RunDraft): NewItem[] {
  if (draft.from === "upload") return draft.files.map(({ assetId, path }) => ({ asset_id: assetId, source: path }));
  if (draft.from === "url") return addressesIn(draft.addresses).map((url) => ({ url }));
  return addressesIn(draft.folders).map((uri) => ({ uri }));
}

/** What is missing before it can be sent, in words; null: nothing. */
export function missingInRun(draft: RunDraft): string | null {
  const count = itemsOf(draft).length;
  if (draft.from === "upload" && !count) return "Choose files or a folder.";
  if (draft.from === "url") {
    const wrong = addressesIn(draft.addresses).find((line) => !WEB.test(line));
    if (!count) return "Paste at least one address.";
    if (wrong) return `“${wrong.slice(0, 80)}” is no address: it begins with https://.`;
  }
  if (draft.from === "bucket") {
    const wrong = addressesIn(draft.folders).find((line) => !FOLDER.test(line));
    if (!count) return "Name at least one folder of a bucket.";
    if (wrong) return `“${wrong.slice(0, 80)}” is no folder of a bucket: it begins with s3://, gs:// or az://.`;
  }
  if (count > MOST_ITEMS) return `A run has ${MOST_ITEMS.toLocaleString("en")} documents at most: make several.`;
  return wrongInSettings(draft.settings);
}

export function runOf(draft: RunDraft): NewRun {
  return {
    kind: draft.from,
    items: itemsOf(draft),
    settings: settingsOf(draft.settings),
    priority: draft.priority || null,
    title: draft.title.trim() || null,
  };
}
