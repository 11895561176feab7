/** Which line is being said, and what a transcript looks like from far away. Lines come in order of time. */
import type { Segment } from "@/api/types";

type Timed = Pick<Segment, "start" | "end">;
type Said = Timed & Pick<Segment, "text">;

/** Players land a hair before the place they were asked for; that hair must not show the line before. */
const HAIR = 0.05;

/** The place in the list of the line that was begun last; in a pause it is still that one. -1 before the first. */
export function lineAt(lines: readonly Timed[], seconds: number): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle] as Timed).start <= seconds + HAIR) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Groups of neighbours, so that a page need not look at each of thousands of lines when one of them changes. A group that is
 * as it was `before` is the same object.
 */
export function inParts<T>(lines: readonly T[], size: number, before: readonly (readonly T[])[] = []): (readonly T[])[] {
  const parts: (readonly T[])[] = [];
  for (let at = 0; at < lines.length; at += size) {
    const part = lines.slice(at, at + size);
    const known = before[parts.length];
    const same = known?.length === part.length && part.every((line, index) => line === known[index]);
    parts.push(same && known ? known : part);
  }
  return parts;
}

/**
 * How much is said along the recording, from 0 to 1 in equal stretches: letters per second against the busiest stretch.
 * Silence is 0, and whatever is said at all can be seen.
 */
export function density(lines: readonly Said[], duration: number, stretches: number): number[] {
  const found = new Array<number>(stretches).fill(0);
  if (!(duration > 0)) return found;
  const width = duration / stretches;
  for (const line of lines) {
    const end = Math.min(duration, Math.max(line.end, line.start + 0.2));
    const pace = line.text.length / Math.max(0.2, end - line.start);
    for (let at = Math.max(0, Math.floor(line.start / width)); at < stretches && at * width < end; at += 1) {
      const covered = Math.min(end, (at + 1) * width) - Math.max(line.start, at * width);
      found[at] = (found[at] ?? 0) + Math.max(0, covered / width) * pace;
    }
  }
  const most = Math.max(...found);
  return most > 0 ? found.map((value) => (value > 0 ? Math.max(0.12, value / most) : 0)) : found;
}

/** Whether a line opens somebody's turn to speak: then the name is worth showing. */
export function opensTurn(lines: readonly Pick<Segment, "speaker">[], at: number): boolean {
  const speaker = lines[at]?.speaker ?? null;
  return speaker !== null && speaker !== (lines[at - 1]?.speaker ?? null);
}
