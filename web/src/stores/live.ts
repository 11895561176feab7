/**
 * The one subscriber. Everything the server pushes passes through here and becomes state: job rows go to the one object
 * per id, and whoever listens is told. Messages are applied in small batches, so that a burst repaints once.
 */
import { readonly, ref } from "vue";
import type { DeletedMessage, JobMessage } from "@/api/types";
import type { SseMessage } from "@/services/sse";
import type { StreamStatus } from "@/services/stream";
import { forgetPushed, pushJob } from "@/stores/jobs";

export type JobPush = JobMessage;

/** A product's row as the server lists it now; null: it is gone. */
export interface RowPush<Row> {
  id: string;
  row: Row | null;
}

/** What arrived together. */
export interface Pushed {
  jobs: JobPush[];
  /** Ids of jobs. */
  deleted: string[];
  /** Rows of products by their kind; whoever registered it reads them. */
  products: Map<string, RowPush<unknown>[]>;
}

export interface LiveListener {
  /** Rows and events that just arrived; those of jobs are already applied. */
  onPushed?(pushed: Pushed): void;
  /** What was shown may have holes: load it again. */
  onReload?(): void;
  /** The server answers again: what could not be loaded can be tried once more. */
  onOpen?(): void;
}

export type LiveStatus = StreamStatus | "off";

/** How long messages are gathered; longer in a flood, when nobody can follow single rows anyway. */
const BATCH_MS = 60;
const FLOOD_MS = 250;
const FLOOD = 100;

const DELETED = ".deleted";

const status = ref<LiveStatus>("off");
const kinds = new Set<string>();
const listeners = new Set<LiveListener>();
let waiting: SseMessage[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
let lastBatch = 0;
let resumable = false;

export const liveStatus = readonly(status);

/**
 * A product says here, once and from its own folder, by which name its rows are pushed; what is gone comes under the same
 * name with `.deleted`. The answer reads them out of what arrived together.
 */
export function registerKind<Row extends { id: string }>(kind: string): (pushed: Pushed) => RowPush<Row>[] {
  kinds.add(kind);
  return ({ products }) => (products.get(kind) ?? []) as RowPush<Row>[];
}

/** Registers a listener; the answer takes it away again. */
export function listenLive(listener: LiveListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function receive(messages: SseMessage[]): void {
  waiting.push(...messages);
  timer ??= setTimeout(flushLive, lastBatch > FLOOD ? FLOOD_MS : BATCH_MS);
}

/** The first opening has no id to resume from: what was loaded before it may have missed something. */
export function setLiveStatus(next: LiveStatus): void {
  const opened = next === "open" && status.value !== "open";
  status.value = next;
  if (opened && !resumable) tell("onReload");
  if (opened) tell("onOpen");
  if (opened) resumable = true;
  if (next !== "off") return;
  resumable = false;
  forgetPushed();
}

export function flushLive(): void {
  clearTimeout(timer);
  timer = undefined;
  const batch = waiting;
  lastBatch = batch.length;
  waiting = [];
  const pushed: Pushed = { jobs: [], deleted: [], products: new Map() };
  for (const message of batch) read(message, pushed);
  for (const push of pushed.jobs) pushJob(push.job);
  if (pushed.jobs.length || pushed.deleted.length || pushed.products.size)
    for (const listener of [...listeners]) listener.onPushed?.(pushed);
  if (batch.some((message) => message.event === "reset")) tell("onReload");
}

function read({ event, data }: SseMessage, { jobs, deleted, products }: Pushed): void {
  if (event === "job") jobs.push(JSON.parse(data) as JobPush);
  else if (event === "deleted") deleted.push((JSON.parse(data) as DeletedMessage).id);
  else readProduct(event, data, products);
}

/** What nobody has registered is passed over: the server may have products that this page does not show. */
function readProduct(event: string, data: string, products: Pushed["products"]): void {
  const gone = event.endsWith(DELETED);
  const kind = gone ? event.slice(0, -DELETED.length) : event;
  if (!kinds.has(kind)) return;
  const row = JSON.parse(data) as { id: string };
  const rows = products.get(kind) ?? [];
  rows.push({ id: row.id, row: gone ? null : row });
  products.set(kind, rows);
}

function tell(what: "onReload" | "onOpen"): void {
  for (const listener of [...listeners]) listener[what]?.();
}
