/** What to do with a file that was found again after a reload, a crash, or in a tab that takes over from another. */
import type { FileLike } from "@/services/uploads/row";

/**
 * `resume` what was under way, `look_up` what had arrived whole, or may have, `leave` what only waits for a person: staged
 * files, refused ones, and those whose content the browser could not keep before any of it was sent.
 */
export type Restoration = "resume" | "look_up" | "leave";

export function restorationOf(file: FileLike): Restoration {
  if (file.progress.uploadComplete) return file.meta.recording ? "leave" : "look_up";
  if (file.isGhost) return file.tus?.uploadUrl ? "look_up" : "leave";
  if (file.meta.problem) return goesOnByItself(file) ? "resume" : "leave";
  return file.meta.wanted ? "resume" : "leave";
}

/** Whether a stopped upload may be tried again without asking anybody, now that the server answers. */
export function goesOnByItself(file: Pick<FileLike, "meta" | "isGhost">): boolean {
  const kind = file.meta.problem?.kind;
  return !file.isGhost && (kind === "network" || kind === "login");
}
