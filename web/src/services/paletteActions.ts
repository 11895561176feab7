/** What the palette does to things: pausing, cancelling, retrying. Words before a search say what is to be done with the hits. */
import type { Job, Queue, Recording } from "@/api/types";
import { shortId } from "@/format/words";
import type { Command } from "@/services/commands";
import { cancelJob, retryJob } from "@/services/jobs";
import { setPaused } from "@/services/queues";
import { cancelRecording, retryRecording } from "@/services/recordingList";
import { viewOf } from "@/services/recordings/status";
import { confirmed, done, toast } from "@/stores/toasts";

export type Verb = "cancel" | "retry";
const VERB = /^(cancel|stop|retry|requeue)\s+(?=\S)/i;

/** "cancel talk" is what is wanted, and what it is wanted of. */
export function verbIn(typed: string): { verb: Verb | null; rest: string } {
  const found = VERB.exec(typed.trim());
  if (!found) return { verb: null, rest: typed.trim() };
  const word = (found[1] ?? "").toLowerCase();
  const verb = word === "cancel" || word === "stop" ? "cancel" : "retry";
  return { verb, rest: typed.trim().slice(found[0].length) };
}

/** Only what the job's state allows; with a verb only that. */
export function jobActions(job: Job, verb: Verb | null, name = `${job.operation} ${shortId(job.id)}`): Command[] {
  const live = ["queued", "running", "waiting"].includes(job.state);
  const again = ["failed", "cancelled", "partial"].includes(job.state);
  return [
    ...(live && verb !== "retry" ? [command(`cancel ${job.id}`, `Cancel ${name}`, "stop", () => cancel(job, name))] : []),
    ...(again && verb !== "cancel"
      ? [command(`retry ${job.id}`, `Retry ${name}`, "retry", () => act(() => retryJob(job.id), `${name} is queued again`))]
      : []),
  ];
}

export function recordingActions(one: Recording, verb: Verb | null): Command[] {
  const live = viewOf(one.status) === "active";
  return [
    ...(live && verb !== "retry"
      ? [command(`cancel ${one.id}`, `Cancel ${one.title}`, "stop", () => act(() => cancelRecording(one.id), "Stopped"))]
      : []),
    ...(one.needs_retry && verb !== "cancel"
      ? [command(`retry ${one.id}`, `Retry ${one.title}`, "retry", () => act(() => retryRecording(one.id), "Queued again"))]
      : []),
  ];
}

export function queueActions(queues: readonly Queue[]): Command[] {
  return queues.map(({ name, paused }) =>
    paused
      ? command(`resume ${name}`, `Resume the queue ${name}`, "play", () =>
          act(() => setPaused(name, false), `${name} goes on`),
        )
      : command(`pause ${name}`, `Pause the queue ${name}`, "pause", () =>
          act(() => setPaused(name, true), `${name} is paused`),
        ),
  );
}

function command(id: string, title: string, icon: Command["icon"], run: () => Promise<void>): Command {
  return { id, title, icon, run: () => void run() };
}

async function act(work: () => Promise<unknown>, past: string): Promise<void> {
  if (await done(work)) toast(past);
}

async function cancel(job: Job, name: string): Promise<void> {
  const text = "What it does stops as soon as it notices, with its children. It can be retried.";
  if (await confirmed({ title: `Cancel ${name}?`, text, yes: "Cancel it", danger: true }))
    await act(() => cancelJob(job.id), `${name} is cancelled`);
}
