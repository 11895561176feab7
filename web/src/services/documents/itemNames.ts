/** What items are called, for places that know only their ids. Those that are asked for together are one question. */
import type { DocumentItem } from "@/api/types";
import { findItems } from "@/services/documents/runs";

const TOGETHER = 100;
let asked = new Map<string, Promise<Map<string, DocumentItem>>>();
let gathering: string[] = [];
let next: Promise<Map<string, DocumentItem>> | null = null;

export async function nameOfItem(id: string): Promise<string | null> {
  const found = await (asked.get(id) ?? join(id));
  return found.get(id)?.name ?? null;
}

/** Whoever asks in the same moment is answered together. */
function join(id: string): Promise<Map<string, DocumentItem>> {
  if (gathering.length >= TOGETHER) [gathering, next] = [[], null];
  gathering.push(id);
  const ids = gathering;
  next ??= Promise.resolve().then(() => ask(ids));
  asked.set(id, next);
  return next;
}

async function ask(ids: string[]): Promise<Map<string, DocumentItem>> {
  if (gathering === ids) [gathering, next] = [[], null];
  if (asked.size > 1000) asked = new Map();
  try {
    return new Map((await findItems(ids)).map((item) => [item.id, item]));
  } catch {
    for (const id of ids) asked.delete(id);
    return new Map();
  }
}
