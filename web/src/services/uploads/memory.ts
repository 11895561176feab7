/** Small notes of this browser about uploads: what was left behind, and what waits to be deleted on the server. */
const HELD = "towpath.uploads.held.";
const GIVEN_UP = "towpath.uploads.given-up.";
const AUTO = "towpath.uploads.auto";

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Storage may be forbidden; then it holds for this visit only.
  }
}

/** Whether files of an earlier visit are in this browser: then the engine is worth loading. */
export function hasHeld(id: string): boolean {
  return read(HELD + id) !== null;
}

export function setHeld(id: string, any: boolean): void {
  if (any !== hasHeld(id)) write(HELD + id, any ? "1" : null);
}

export function rememberLeftovers(id: string, addresses: readonly string[]): void {
  write(GIVEN_UP + id, JSON.stringify([...peek(id), ...addresses].slice(-100)));
}

export function takeLeftovers(id: string): string[] {
  const found = peek(id);
  if (found.length) write(GIVEN_UP + id, null);
  return found;
}

function peek(id: string): string[] {
  try {
    const found: unknown = JSON.parse(read(GIVEN_UP + id) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** Whether dropped files are uploaded at once. */
export function autoUpload(): boolean {
  return read(AUTO) === "1";
}

export function setAutoUpload(on: boolean): void {
  write(AUTO, on ? "1" : null);
}
