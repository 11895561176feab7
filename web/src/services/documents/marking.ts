/** Text with places in it marked: words that were asked for, or a passage in its page. */
import type { TextRange } from "@/api/types";

export interface Piece {
  text: string;
  on: boolean;
}

/** The server counts characters as code points; a string here is counted in halves of some. */
export function pieces(text: string, ranges: readonly TextRange[]): Piece[] {
  const letters = Array.from(text);
  const found: Piece[] = [];
  let at = 0;
  for (const { start, end } of [...ranges].sort((left, right) => left.start - right.start)) {
    const from = Math.max(at, start);
    if (end <= from) continue;
    if (from > at) found.push({ text: letters.slice(at, from).join(""), on: false });
    found.push({ text: letters.slice(from, end).join(""), on: true });
    at = Math.min(end, letters.length);
  }
  if (at < letters.length) found.push({ text: letters.slice(at).join(""), on: false });
  return found;
}

/** A passage where it stands in a page, however the white space between its words was cut; all of it unmarked if it is not there. */
export function passageIn(page: string, passage: string): Piece[] {
  const words = passage.split(/\s+/).filter(Boolean);
  if (!words.length) return [{ text: page, on: false }];
  const found = new RegExp(words.map(escaped).join("\\s+"), "u").exec(page);
  if (!found) return [{ text: page, on: false }];
  const end = found.index + found[0].length;
  return [
    { text: page.slice(0, found.index), on: false },
    { text: found[0], on: true },
    { text: page.slice(end), on: false },
  ].filter(({ text }) => text !== "");
}

function escaped(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}
