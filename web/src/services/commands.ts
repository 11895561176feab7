/** What the palette offers, and which of it fits what was typed. */
import type { IconName } from "@/components/ui/icons";

export interface Command {
  id: string;
  title: string;
  note?: string;
  icon: IconName;
  run(): void;
}

/** Every word must begin a word of the title or stand inside it; earlier and tighter matches come first. */
export function rank(commands: readonly Command[], typed: string): Command[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return commands
    .map((command) => ({ command, score: scoreOf(command, words) }))
    .filter((found) => found.score > 0)
    .sort((left, right) => right.score - left.score)
    .map((found) => found.command);
}

function scoreOf(command: Command, words: readonly string[]): number {
  const title = command.title.toLowerCase();
  const whole = `${title} ${command.note?.toLowerCase() ?? ""}`;
  let score = 1;
  for (const word of words) {
    if (title.startsWith(word)) score += 4;
    else if (whole.split(/\s+/).some((part) => part.startsWith(word))) score += 2;
    else if (whole.includes(word)) score += 1;
    else return 0;
  }
  return score;
}

/** Long enough a piece of an id that looking it up makes sense. */
export function looksLikeId(typed: string): boolean {
  return /^[0-9a-f]{6,8}(-[0-9a-f-]*)?$/i.test(typed.trim());
}
