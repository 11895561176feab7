/** Documents in words. */
import type { ReadDocument } from "@/api/types";
import { count, plural } from "@/format/numbers";

/** "12 pages", "1 slide"; of what has no pages, how long it is. */
export function amountWords({ unit, pages, characters }: Pick<ReadDocument, "unit" | "pages" | "characters">): string {
  return unit === "text" ? `${count(characters)} characters` : plural(pages, unit);
}

/** "page 3": where something stands; nothing for what has no pages. */
export function placeWords(unit: string, page: number | null): string {
  return page === null || unit === "text" ? "" : `${unit} ${page}`;
}

const NAME_TYPES: Readonly<Record<string, string>> = { email: "e-mail", iban: "IBAN", url: "web address" };

/** What kind of thing a name is of: "person", "IBAN". */
export function nameTypeWords(type: string): string {
  return NAME_TYPES[type] ?? type;
}

const METHODS: Readonly<Record<string, string>> = {
  text: "as it is written",
  ocr: "read from pictures",
  mixed: "written, and read from pictures",
};

export function methodWords(method: string): string {
  return METHODS[method] ?? method;
}
