/** What was said in any recording, found by words and by meaning. A hit opens its recording at its second. */
import type { SearchResult } from "@/api/types";
import { answer, client } from "@/services/client";

export interface Hits {
  items: Hit[];
  next: string | null;
}

export interface Hit {
  id: string;
  recordingId: string;
  title: string;
  second: number;
  pieces: SnippetPiece[];
}

export interface SnippetPiece {
  text: string;
  found: boolean;
}

/** So much of a passage is shown before and after the first word that was found, in characters. */
const BEFORE = 60;
const AFTER = 180;

export async function searchTranscripts(q: string, cursor: string | null): Promise<Hits> {
  const query = { q, kind: "recording" as const, limit: 20, cursor: cursor ?? undefined };
  const found = await answer(client.GET("/api/documents/search", { params: { query } }));
  return { items: found.results.flatMap((result) => hitOf(result) ?? []), next: found.next };
}

export function hitOf(result: SearchResult): Hit | null {
  if (!result.recording_id) return null;
  return {
    id: result.passage_id,
    recordingId: result.recording_id,
    title: result.title,
    second: Math.floor(result.start ?? 0),
    pieces: snippet(result.text, result.highlights),
  };
}

/** The part of a passage around the first of its highlights, which count characters as people do, not as JavaScript does. */
export function snippet(text: string, highlights: readonly { start: number; end: number }[]): SnippetPiece[] {
  const letters = Array.from(text);
  const first = highlights[0]?.start ?? 0;
  const begin = wordBegin(letters, Math.max(0, first - BEFORE));
  const end = Math.min(letters.length, first + AFTER);
  const pieces: SnippetPiece[] = [];
  let at = begin;
  const add = (to: number, found: boolean): void => {
    if (to > at) pieces.push({ text: letters.slice(at, to).join(""), found });
    at = Math.max(at, to);
  };
  for (const { start, end: stop } of highlights) {
    if (start >= end) break;
    add(start, false);
    add(Math.min(stop, end), true);
  }
  add(end, false);
  if (begin > 0) pieces.unshift({ text: "… ", found: false });
  if (end < letters.length) pieces.push({ text: " …", found: false });
  return pieces;
}

function wordBegin(letters: readonly string[], place: number): number {
  let at = place;
  while (at > 0 && at < letters.length && letters[at - 1] !== " ") at += 1;
  return at;
}
