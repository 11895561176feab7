/** Addresses of seconds in a recording, and what is quoted from it with them. */
import type { Segment } from "@/api/types";
import { timecode } from "@/services/recordings/timecode";

const CLOCK = /^(?:(\d+):)?(\d{1,3}):(\d{1,2}(?:\.\d+)?)$/;
const UNITS = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?$/;

/** "83", "83.5", "83s", "1m23s", "1:23" and "1:02:03" are seconds; anything else is none. */
export function secondsIn(text: string | null | undefined): number | null {
  const found = text ? (CLOCK.exec(text) ?? UNITS.exec(text)) : null;
  if (!found) return null;
  const [hours, minutes, seconds] = [found[1], found[2], found[3]].map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
  ];
  return hours * 3600 + minutes * 60 + seconds;
}

/** `?t=83`, `#t=83`, and `#t=83,90` as media fragments are written. */
export function placeIn(query: unknown, hash: string): number | null {
  const given = typeof query === "string" ? query : /^#t=([^,&]+)/.exec(hash)?.[1];
  return secondsIn(given);
}

/** The page at that second, whole seconds being enough for people. */
export function linkTo(page: string, seconds: number): string {
  return `${page}?t=${Math.floor(seconds)}`;
}

/** What somebody said, with where it can be heard. */
export function quoted(line: Pick<Segment, "start" | "speaker" | "text">, title: string, page: string): string {
  const from = [line.speaker, title, timecode(line.start)].filter(Boolean).join(", ");
  return `“${line.text}”\n— ${from}\n${linkTo(page, line.start)}\n`;
}

/** All of it as paragraphs, a new one for each turn to speak. */
export function plainText(lines: readonly Pick<Segment, "speaker" | "text">[]): string {
  const turns: { speaker: string | null; said: string[] }[] = [];
  for (const { speaker, text } of lines) {
    const last = turns.at(-1);
    if (last && last.speaker === speaker) last.said.push(text);
    else turns.push({ speaker, said: [text] });
  }
  return turns.map(({ speaker, said }) => `${speaker ? `${speaker}: ` : ""}${said.join(" ")}\n`).join("\n");
}
