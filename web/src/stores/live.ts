/**
 * The one subscriber. Everything the server pushes passes through here and becomes state: job rows go to the one object
 * per id, and lists and logs that asked are told. Messages are applied in small batches, so that a burst repaints once.
 */
import { readonly, ref } from "vue";
import type { DeletedMessage, JobMessage } from "@/api/types";
import type { SseMessage } from "@/services/sse";
import type { StreamStatus } from "@/services/stream";
import { forgetPushed, pushJob } from "@/stores/jobs";

export type JobPush = JobMessage;

export interface LiveListener {
  /** Rows and events that just arrived; the rows are already applied. */
  onJobs?(pushes: JobPush[]): void;
  onDeleted?(ids: string[]): void;
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
  const pushes: JobPush[] = [];
  const deleted: string[] = [];
  let reload = false;
  for (const message of batch) {
    if (message.event === "job") pushes.push(parse<JobPush>(message));
    else if (message.event === "deleted") deleted.push(parse<DeletedMessage>(message).id);
    else if (message.event === "reset") reload = true;
  }
  for (const push of pushes) pushJob(push.job);
  if (pushes.length) for (const listener of [...listeners]) listener.onJobs?.(pushes);
  if (deleted.length) for (const listener of [...listeners]) listener.onDeleted?.(deleted);
  if (reload) tell("onReload");
}

function tell(what: "onReload" | "onOpen"): void {
  for (const listener of [...listeners]) listener[what]?.();
}

function parse<T>(message: SseMessage): T {
  return JSON.parse(message.data) as T;
}
