/** JSON values as a tree is drawn: what kind, how to show it in one line, and its parts. */
import { firstMistake } from "@/components/json/checker";

export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

export function kindOf(value: unknown): JsonKind {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "object" || type === "string" || type === "number" || type === "boolean" ? type : "null";
}

export interface JsonPart {
  name: string;
  value: unknown;
}

export function partsOf(value: unknown): JsonPart[] {
  if (Array.isArray(value)) return value.map((item, index) => ({ name: String(index), value: item as unknown }));
  if (typeof value === "object" && value !== null)
    return Object.entries(value).map(([name, item]) => ({ name, value: item as unknown }));
  return [];
}

export function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

export function isBranch(value: unknown): boolean {
  return sizeOf(value) > 0;
}

const LONGEST = 64;

/** A closed branch in one line: enough to decide whether to open it. */
export function summary(value: unknown): string {
  const kind = kindOf(value);
  if (kind === "array") return `[${inner((value as unknown[]).map(glance))}]`;
  if (kind === "object")
    return `{${inner(Object.entries(value as object).map(([name, item]) => `${name}: ${glance(item)}`))}}`;
  return scalar(value);
}

function inner(words: string[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const word of words) {
    length += word.length + 2;
    if (length > LONGEST) return [...shown, "…"].join(", ");
    shown.push(word);
  }
  return shown.join(", ");
}

function glance(value: unknown): string {
  const kind = kindOf(value);
  if (kind === "array") return sizeOf(value) ? `[${sizeOf(value)}]` : "[]";
  if (kind === "object") return sizeOf(value) ? "{…}" : "{}";
  const text = scalar(value);
  return text.length > 24 ? `${text.slice(0, 23)}…` : text;
}

export function scalar(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

/** How a place in the value is written in code: `items[0].name`. */
export function pathOf(parent: string, name: string, inArray: boolean): string {
  if (inArray) return `${parent}[${name}]`;
  if (/^[A-Za-z_$][\w$]*$/.test(name)) return parent ? `${parent}.${name}` : name;
  return `${parent}[${JSON.stringify(name)}]`;
}

export interface JsonMistake {
  line: number;
  column: number;
  message: string;
}

export type Parsed = { ok: true; value: unknown } | { ok: false; mistake: JsonMistake };

/** Parses what a person typed; a mistake is told by line and column. */
export function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    const found = firstMistake(text) ?? { at: 0, message: "This is not valid JSON." };
    const before = text.slice(0, found.at).split("\n");
    return { ok: false, mistake: { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message: found.message } };
  }
}
