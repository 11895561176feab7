/** Saving something as a file of the reader's. */
import { problemFrom, unreachable } from "@/services/problem";

/** Long enough for any browser to have taken what was made for it. */
const KEPT_MS = 10_000;

/** What is at an address of this server; the answer says what the file is called, if `name` does not. */
export function download(address: string, name = ""): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

/** Text that was made here. */
export function saveText(name: string, text: string, type = "application/json"): void {
  saveBlob(name, new Blob([text], { type }));
}

/** An answer of the server that may be a problem: then that is thrown, and nothing saved. */
export async function saveFrom(address: string, name: string): Promise<void> {
  const response = await fetch(address, { cache: "no-store" }).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw problemFrom(await response.json().catch(() => null), response);
  saveBlob(nameIn(response.headers.get("Content-Disposition")) ?? name, await response.blob());
}

function saveBlob(name: string, blob: Blob): void {
  const address = URL.createObjectURL(blob);
  download(address, name);
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}

function nameIn(header: string | null): string | null {
  return /filename="([^"]+)"/.exec(header ?? "")?.[1] ?? null;
}
