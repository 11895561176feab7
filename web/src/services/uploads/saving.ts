/** Saves an answer of the server as a file, or throws what it said instead. */
import { problemFrom, unreachable } from "@/services/problem";

export async function saveFrom(address: string, name: string): Promise<void> {
  const response = await fetch(address, { cache: "no-store" }).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw problemFrom(await response.json().catch(() => null), response);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = nameIn(response.headers.get("Content-Disposition")) ?? name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function nameIn(header: string | null): string | null {
  return /filename="([^"]+)"/.exec(header ?? "")?.[1] ?? null;
}
