/** Small notes of this browser about uploads: what was left behind, and what waits to be deleted on the server. */
import { recall, recallJson, remember } from "@/services/remembering";

const HELD = "towpath.uploads.held.";
const GIVEN_UP = "towpath.uploads.given-up.";
const AUTO = "towpath.uploads.auto";
const BEGUN = "towpath.uploads.begun";
const MOST_BEGUN = 50;
/** Somewhat less than the server keeps what is not whole. */
const KEPT_MS = 20 * 3600 * 1000;

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

/** Uploads that were begun and have not ended, by the file's own marks: whoever chooses it again goes on with it. */
export function begunBefore(file: File, purpose: string): string | null {
  const found = begun()[markOf(file, purpose)];
  return found !== undefined && Date.now() - found.at < KEPT_MS ? found.address : null;
}

/** `address` is null once it has arrived. */
export function rememberBegun(file: File, purpose: string, address: string | null): void {
  const known = Object.entries(begun()).filter(([mark]) => mark !== markOf(file, purpose));
  if (address !== null) known.push([markOf(file, purpose), { address, at: Date.now() }]);
  remember(BEGUN, known.length ? JSON.stringify(Object.fromEntries(known.slice(-MOST_BEGUN))) : null);
}

function begun(): Record<string, { address: string; at: number }> {
  const found = recallJson(BEGUN);
  return typeof found === "object" && found !== null ? (found as Record<string, { address: string; at: number }>) : {};
}

function markOf(file: File, purpose: string): string {
  return [purpose, file.webkitRelativePath || file.name, file.size, file.lastModified].join("/");
}

/** Whether dropped files are uploaded at once. */
export function autoUpload(): boolean {
  return recall(AUTO) === "1";
}

export function setAutoUpload(on: boolean): void {
  remember(AUTO, on ? "1" : null);
}
