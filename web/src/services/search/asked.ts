/** What is looked for, as the address bar tells it: every search can be linked to and come back to. */
import type { LocationQuery, LocationQueryRaw } from "vue-router";

export type Mode = "search" | "names" | "ask";
export type How = "both" | "words" | "meaning";

/** Where it is looked for. Empty: everywhere. */
export interface SearchScope {
  kind: "" | "document" | "recording";
  type: string;
  run: string;
  /** A type and a key, such as `person:helen brandt`. */
  entity: string;
}

export interface SearchAsked extends SearchScope {
  mode: Mode;
  q: string;
  how: How;
  /** A question that was asked, by its job. */
  answer: string;
}

export const NO_SCOPE: Readonly<SearchScope> = { kind: "", type: "", run: "", entity: "" };
/** Kinds of documents, as the reader of them names them. */
export const TYPES = ["PDF", "DOCX", "PPTX", "XLSX", "HTML", "Markdown", "text", "e-mail", "picture"] as const;

const one = (query: LocationQuery, name: string): string => {
  const value = [query[name]].flat()[0];
  return typeof value === "string" ? value.trim() : "";
};

function oneOf<T extends string>(value: string, known: readonly T[], usual: T): T {
  return known.find((each) => each === value) ?? usual;
}

/** Reads what it understands and leaves the rest. */
export function askedIn(query: LocationQuery): SearchAsked {
  return {
    mode: oneOf(one(query, "mode"), ["search", "names", "ask"], "search"),
    q: one(query, "q").slice(0, 2000),
    how: oneOf(one(query, "how"), ["both", "words", "meaning"], "both"),
    kind: oneOf(one(query, "kind"), ["", "document", "recording"], ""),
    type: one(query, "type"),
    run: one(query, "run"),
    entity: one(query, "entity"),
    answer: one(query, "answer"),
  };
}

/** Only what is set, in a fixed order, so that the same search always has the same address. */
export function queryOf(asked: SearchAsked): LocationQueryRaw {
  const usual: Partial<SearchAsked> = { mode: "search", how: "both" };
  return Object.fromEntries(
    Object.entries(asked).filter(([name, value]) => value && value !== usual[name as keyof SearchAsked]),
  );
}

export function isNarrowed({ kind, type, run, entity }: SearchScope): boolean {
  return Boolean(kind || type || run || entity);
}

/** "person:helen brandt" as people read it. */
export function entityWords(entity: string): string {
  const [type = "", ...key] = entity.split(":");
  return key.length ? `${key.join(":")} (${type})` : type;
}
