/** Where a passage stands, and why it was found, in words. */
import type { FoundPassage, SearchResult } from "@/api/types";
import { timecode } from "@/services/recordings/timecode";

type Place = Pick<FoundPassage, "type" | "page" | "start" | "recording_id">;

const UNITS: Readonly<Record<string, string>> = { pptx: "slide", xlsx: "sheet" };
const WITHOUT_PAGES = new Set(["html", "markdown", "text", "e-mail"]);

/** "PDF, page 3", "recording at 1:23". */
export function whereWords({ type, page, start, recording_id: recording }: Place): string {
  if (recording !== null) return start === null ? "recording" : `recording at ${timecode(start)}`;
  const name = type.length <= 4 && type !== "text" ? type.toUpperCase() : type;
  if (page === null || WITHOUT_PAGES.has(type)) return name;
  return `${name}, ${UNITS[type] ?? "page"} ${page}`;
}

/** Whether passages were found by what they mean alone: then a reader looks for the words in vain, and is told so. */
export function hasNoneOfTheWords(hits: readonly Pick<SearchResult, "highlights">[]): boolean {
  return hits.length > 0 && hits.every((hit) => hit.highlights.length === 0);
}
