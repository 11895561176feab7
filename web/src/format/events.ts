/** One line about an event: its own message, or what its fields say in words. */
import type { JobEvent } from "@/api/types";
import { summary } from "@/components/json/json";
import { count, money } from "@/format/numbers";
import { duration } from "@/format/time";
import { reasonWord } from "@/format/words";

type Fields = Record<string, unknown>;

const NAMES: Record<string, string> = {
  "job.children": "Child ended",
  "job.spawned": "Children made",
  "job.metered": "Metered",
  "step.started": "Step began",
  "step.completed": "Step done",
  "step.failed": "Step failed",
};

/** "job.retry_scheduled" → "Retry scheduled"; names that users chose stay as they are. */
export function eventName(name: string): string {
  const known = NAMES[name];
  if (known) return known;
  if (!name.startsWith("job.")) return name;
  const words = name.slice(4).replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function eventText(event: JobEvent): string {
  const fields = event.fields ?? {};
  const told = TOLD[event.name]?.(fields);
  const text = [...new Set([event.message, told])].filter(Boolean).join(" · ");
  if (text) return text;
  return Object.keys(fields).length ? summary(fields) : "";
}

const TOLD: Record<string, (fields: Fields) => string | null> = {
  "step.started": (fields) => text(fields.step),
  "step.completed": stepDone,
  "job.waiting": (fields) => reasonWord(text(fields.reason)),
  "job.resumed": (fields) => reasonWord(text(fields.reason))?.replace(/^for /, "woken by ") ?? null,
  "job.spawned": (fields) =>
    number(fields.children) === null ? null : `${count(number(fields.children))} by ${text(fields.step) ?? "a step"}`,
  "job.children": children,
  "job.progress": progress,
  "job.metered": metered,
  "job.retry_scheduled": (fields) =>
    number(fields.delay_seconds) === null ? null : `again in ${duration((number(fields.delay_seconds) ?? 0) * 1000)}`,
  "job.failed": (fields) => text(fields.message),
  "job.reopened": () => "waits for its children again",
  "job.requeued": (fields) =>
    fields.edited === true ? "with another payload and a fresh budget of attempts" : "with a fresh budget of attempts",
};

function stepDone(fields: Fields): string | null {
  const parts = [text(fields.step), number(fields.duration_ms) === null ? null : duration(number(fields.duration_ms))];
  if (number(fields.retries)) parts.push(`${String(fields.retries)} retries`);
  if (text(fields.model)) parts.push(text(fields.model));
  return parts.filter(Boolean).join(" · ");
}

function children(fields: Fields): string | null {
  const [total, ok, partial, bad] = [fields.total, fields.ok, fields.partial, fields.bad].map(number);
  if (total === null || total === undefined) return null;
  const ended = (ok ?? 0) + (partial ?? 0) + (bad ?? 0);
  return `${count(ended)} of ${count(total)} ended${bad ? `, ${count(bad)} did not succeed` : ""}`;
}

function progress(fields: Fields): string | null {
  const [current, total] = [number(fields.current), number(fields.of)];
  if (current === null) return null;
  return total === null ? `${count(current)} done` : `${count(current)} of ${count(total)}`;
}

function metered(fields: Fields): string | null {
  const parts = [text(fields.model)];
  if (number(fields.tokens_in) !== null) parts.push(`${count(number(fields.tokens_in))} tokens in`);
  if (number(fields.tokens_out) !== null) parts.push(`${count(number(fields.tokens_out))} out`);
  if (number(fields.cost_cents) !== null) parts.push(money(number(fields.cost_cents)));
  return parts.filter(Boolean).join(" · ") || null;
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function number(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
