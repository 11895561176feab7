/** Small things that this browser remembers. Where storage is forbidden they hold for this visit, and nobody is told. */

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** null forgets it. */
export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // See above.
  }
}

/** Nothing, where what is there is no JSON: somebody else may have written it. */
export function recallJson(key: string): unknown {
  try {
    return JSON.parse(recall(key) ?? "null");
  } catch {
    return null;
  }
}
