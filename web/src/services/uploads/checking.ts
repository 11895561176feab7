/** What is certain to be refused is refused at once; what a file really is, only the server can say. */
import { bytes, plural } from "@/format/numbers";

export interface UploadLimits {
  /** Largest file; null: no limit, or not known. */
  most: number | null;
  /** Room that is left for the tenant; null: no limit, or not known. */
  room: number | null;
}

export interface Chosen {
  name: string;
  size: number;
}

export interface Refusal {
  name: string;
  why: string;
}

/** Splits files into those that can be sent and those that cannot; each takes room from the ones after it. */
export function sorted<T extends Chosen>(files: readonly T[], limits: UploadLimits): { good: T[]; refused: Refusal[] } {
  const good: T[] = [];
  const refused: Refusal[] = [];
  let room = limits.room ?? Infinity;
  for (const file of files) {
    const why = refusalOf(file, limits, room);
    if (why) refused.push({ name: file.name, why });
    else {
      good.push(file);
      room -= file.size;
    }
  }
  return { good, refused };
}

function refusalOf(file: Chosen, limits: UploadLimits, room: number): string | null {
  if (file.size === 0) return "it is empty";
  if (limits.most !== null && file.size > limits.most)
    return `it has ${bytes(file.size)}, and this server takes files of at most ${bytes(limits.most)}`;
  if (file.size > room) return `it has ${bytes(file.size)}, and there is room for ${bytes(Math.max(0, room))} more`;
  return null;
}

export function refusalWords(refused: readonly Refusal[]): { text: string; detail: string } {
  const [first] = refused;
  if (refused.length === 1 && first) return { text: `${first.name} was not taken`, detail: `${first.why}.` };
  const told = refused.slice(0, 3).map((one) => `${one.name}: ${one.why}`);
  if (refused.length > 3) told.push(`and ${refused.length - 3} more`);
  return { text: `${plural(refused.length, "file")} were not taken`, detail: told.join("; ") };
}
