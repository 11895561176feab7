/**
 * The one subscriber. Everything the server pushes passes through here and becomes state: job rows go to the one object
 * per id, and whoever listens is told. Messages are applied in small batches, so that a burst repaints once.
 */
import { readonly, ref } from "vue";
import type { DeletedMessage, JobMessage, Recording } from "@/api/types";
import type { SseMessage } from "@/services/sse";
import type { StreamStatus } from "@/services/stream";
import { forgetPushed, pushJob } from "@/stores/jobs";

export type JobPush = JobMessage;

/** Nothing but progress, which is on the row. A message without events may be about anything. */
export function onlyProgress({ events }: JobPush): boolean {
  return events.length > 0 && events.every((event) => event.name === "job.progress");
}

/** A product's row as the server lists it now; null: it is gone. */
export interface RowPush<Row> {
  id: string;
  row: Row | null;
}

/** What arrived together. Each product has its own message, named after what it keeps, with `.deleted` for what is gone. */
export interface Pushed {
  jobs: JobPush[];
  /** Ids of jobs. */
  deleted: string[];
  recordings: RowPush<Recording>[];
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

const status = ref<LiveStatus>("off");
const listeners = new Set<LiveListener>();
let waiting: SseMessage[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
let lastBatch = 0;
let resumable = false;

export const liveStatus = readonly(status);

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
  const pushed: Pushed = { jobs: [], deleted: [], recordings: [] };
  for (const message of batch) read(message, pushed);
  for (const push of pushed.jobs) pushJob(push.job);
  if (Object.values(pushed).some((part) => part.length)) for (const listener of [...listeners]) listener.onPushed?.(pushed);
  if (batch.some((message) => message.event === "reset")) tell("onReload");
}

function read({ event, data }: SseMessage, { jobs, deleted, recordings }: Pushed): void {
  if (event === "job") jobs.push(JSON.parse(data) as JobPush);
  else if (event === "deleted") deleted.push((JSON.parse(data) as DeletedMessage).id);
  else if (event === "recording") recordings.push(rowPush(JSON.parse(data) as Recording));
  else if (event === "recording.deleted") recordings.push({ id: (JSON.parse(data) as DeletedMessage).id, row: null });
}

function rowPush<Row extends { id: string }>(row: Row): RowPush<Row> {
  return { id: row.id, row };
}

function tell(what: "onReload" | "onOpen"): void {
  for (const listener of [...listeners]) listener[what]?.();
}
