import { clock } from "@/format/time";

/** What a provider said last, in one line: its own figures and words, without what the page shows elsewhere. */
type Said = Readonly<Record<string, unknown>>;

export function answerWords(answer: Said): string {
  const parts = [counted(answer.counts), ...Object.entries(answer).map(([name, value]) => told(name, value))];
  return parts.filter(Boolean).join(" · ");
}

function counted(counts: unknown): string {
  if (typeof counts !== "object" || counts === null) return "";
  return Object.entries(counts)
    .filter(([, value]) => typeof value === "number")
    .map(([name, value]) => `${String(value)} ${name.replaceAll("_", " ")}`)
    .join(", ");
}

function told(name: string, value: unknown): string {
  if (name === "counts" || name === "status" || value === null || typeof value === "object") return "";
  const text = name.endsWith("_at") && typeof value === "number" ? clock(value * 1000, Date.now()) : String(value);
  return text ? `${name.replaceAll("_", " ")}: ${text}` : "";
}
