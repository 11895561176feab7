/** Finding words in a transcript. Answers are places, never markup: the page makes marks of them. */
import type { Segment } from "@/api/types";

export interface Hit {
  /** The place of the line in the list. */
  line: number;
  start: number;
  end: number;
}

export interface Piece {
  text: string;
  /** The number of the hit this piece is, or null for what lies between. */
  hit: number | null;
}

/** Every place where the words stand, however they are capitalised and whatever space is between them. */
export function findIn(lines: readonly Pick<Segment, "text">[], words: string): Hit[] {
  const wanted = words.trim();
  if (!wanted) return [];
  const pattern = new RegExp(wanted.split(/\s+/).map(escaped).join("\\s+"), "giu");
  return lines.flatMap(({ text }, line) =>
    [...text.matchAll(pattern)].map((match) => ({ line, start: match.index, end: match.index + match[0].length })),
  );
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** The hits of each line, with the number each has among all. */
export function byLine(hits: readonly Hit[]): Map<number, (Hit & { number: number })[]> {
  const found = new Map<number, (Hit & { number: number })[]>();
  hits.forEach((hit, number) => {
    const known = found.get(hit.line);
    if (known) known.push({ ...hit, number });
    else found.set(hit.line, [{ ...hit, number }]);
  });
  return found;
}

/** A line cut where its hits begin and end. */
export function pieces(text: string, hits: readonly (Hit & { number: number })[] | undefined): Piece[] {
  const cut: Piece[] = [];
  let at = 0;
  for (const hit of hits ?? []) {
    if (hit.start > at) cut.push({ text: text.slice(at, hit.start), hit: null });
    cut.push({ text: text.slice(hit.start, hit.end), hit: hit.number });
    at = hit.end;
  }
  if (at < text.length || !cut.length) cut.push({ text: text.slice(at), hit: null });
  return cut;
}

/** The hit a search begins with: the first at or after the line that is being read, else the first of all. */
export function nearest(hits: readonly Hit[], line: number): number {
  const after = hits.findIndex((hit) => hit.line >= line);
  return after < 0 ? 0 : after;
}

/** On to the next hit or back to the one before, around the ends. */
export function turn(current: number, by: 1 | -1, count: number): number {
  return count ? (current + by + count) % count : 0;
}
