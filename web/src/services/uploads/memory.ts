/** Small notes of this browser about uploads: what was left behind, and what waits to be deleted on the server. */
import { recall, recallJson, remember } from "@/services/remembering";

const HELD = "towpath.uploads.held.";
const GIVEN_UP = "towpath.uploads.given-up.";
const AUTO = "towpath.uploads.auto";

/** Whether files of an earlier visit are in this browser: then the engine is worth loading. */
export function hasHeld(id: string): boolean {
  return recall(HELD + id) !== null;
}

export function setHeld(id: string, any: boolean): void {
  if (any !== hasHeld(id)) remember(HELD + id, any ? "1" : null);
}

export function rememberLeftovers(id: string, addresses: readonly string[]): void {
  remember(GIVEN_UP + id, JSON.stringify([...peek(id), ...addresses].slice(-100)));
}

export function takeLeftovers(id: string): string[] {
  const found = peek(id);
  if (found.length) remember(GIVEN_UP + id, null);
  return found;
}

function peek(id: string): string[] {
  const found = recallJson(GIVEN_UP + id);
  return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
}

/** Whether dropped files are uploaded at once. */
export function autoUpload(): boolean {
  return recall(AUTO) === "1";
}

export function setAutoUpload(on: boolean): void {
  remember(AUTO, on ? "1" : null);
}
