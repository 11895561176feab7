/** How documents are read, as somebody is writing it. What is left as it was is not sent. */
import type { RunSettings } from "@/api/types";

export interface SettingsDraft {
  /** Empty: as the server's settings say. */
  ocr: "" | "yes" | "no";
  chunkTokens: string;
  embed: boolean;
  entities: boolean;
  /** In dollars; empty: no limit of its own. */
  budget: string;
  /** A step and an https:// address on each line. */
  remote: string;
  /** In cents, for one call. */
  remoteCents: string;
}

type Told = Readonly<Record<string, unknown>>;

export const LEAST_TOKENS = 32;
export const MOST_TOKENS = 1024;
export const USUAL_TOKENS = 160;
const REMOTE = /^([A-Z][A-Z0-9_]{1,49})\s+(https?:\/\/\S+)$/;

/** `told` are the settings of a run, as the server tells them. */
export function settingsDraft(told: Told = {}): SettingsDraft {
  const remote = (told.remote ?? {}) as Record<string, string>;
  return {
    ocr: told.ocr === true ? "yes" : told.ocr === false ? "no" : "",
    chunkTokens: numberText(told.chunk_tokens),
    embed: told.embed !== false,
    entities: told.entities !== false,
    budget: typeof told.budget_cents === "number" ? String(told.budget_cents / 100) : "",
    remote: Object.entries(remote)
      .map(([step, address]) => `${step} ${address}`)
      .join("\n"),
    remoteCents: numberText(told.remote_cents),
  };
}

function numberText(value: unknown): string {
  return typeof value === "number" ? String(value) : "";
}

/** What is wrong with it, in words; null: nothing. */
export function wrongInSettings(draft: SettingsDraft): string | null {
  const tokens = draft.chunkTokens.trim();
  if (tokens && !(/^\d+$/.test(tokens) && Number(tokens) >= LEAST_TOKENS && Number(tokens) <= MOST_TOKENS))
    return `A passage has from ${LEAST_TOKENS} to ${MOST_TOKENS.toLocaleString("en")} tokens.`;
  if (!isAmount(draft.budget)) return "What the run may spend is an amount such as 2.50, or left empty.";
  if (!isAmount(draft.remoteCents)) return "What a call costs is a number of cents, or left empty.";
  const wrong = lines(draft.remote).find((line) => !REMOTE.test(line));
  return wrong === undefined ? null : `“${wrong.slice(0, 60)}” is no step with its address, such as EMBEDDED https://…`;
}

function isAmount(text: string): boolean {
  return /^(\d+([.,]\d+)?)?$/.test(text.trim());
}

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

function amount(text: string): number | null {
  return text.trim() ? Number(text.trim().replace(",", ".")) : null;
}

/** What differs from `before`, as it is sent. */
export function settingsOf(draft: SettingsDraft, before: SettingsDraft = settingsDraft()): RunSettings {
  const dollars = amount(draft.budget);
  const all: [keyof SettingsDraft, RunSettings][] = [
    ["ocr", draft.ocr ? { ocr: draft.ocr === "yes" } : {}],
    ["chunkTokens", draft.chunkTokens.trim() ? { chunk_tokens: Number(draft.chunkTokens) } : {}],
    ["embed", { embed: draft.embed }],
    ["entities", { entities: draft.entities }],
    ["budget", dollars === null ? {} : { budget_cents: Math.round(dollars * 1e6) / 1e4 }],
    ["remote", draft.remote.trim() ? { remote: remoteIn(draft.remote) } : {}],
    ["remoteCents", amount(draft.remoteCents) === null ? {} : { remote_cents: amount(draft.remoteCents) }],
  ];
  const changed = all.filter(([name]) => draft[name] !== before[name]).map(([, said]) => said);
  return Object.assign({}, ...changed) as RunSettings;
}

function remoteIn(text: string): Record<string, string> {
  const found = lines(text).map((line) => REMOTE.exec(line) ?? []);
  return Object.fromEntries(found.map(([, step = "", address = ""]) => [step, address]));
}

const WORDS: Readonly<Record<string, string>> = {
  ocr: "Pictures of text",
  chunk_tokens: "Tokens of a passage",
  embed: "Found by meaning",
  entities: "Names looked for",
  budget_cents: "May spend",
  remote: "Steps elsewhere",
  remote_cents: "A call elsewhere",
  folders: "Folders",
};

/** For the list of facts: only what was said. */
export function settingWords(told: Told, money: (cents: number) => string): [string, string][] {
  return Object.entries(told)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [WORDS[name] ?? name.replaceAll("_", " "), valueWords(name, value, money)]);
}

function valueWords(name: string, value: unknown, money: (cents: number) => string): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return name.endsWith("_cents") ? money(value) : String(value);
  if (Array.isArray(value)) return value.map(String).join(", ");
  if (typeof value === "object" && value !== null)
    return Object.entries(value)
      .map(([step, address]) => `${step} ${String(address)}`)
      .join(", ");
  return String(value);
}
