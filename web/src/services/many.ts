/** Acting on many: the server works in bounded batches, says of each what it left alone, and is asked until nothing remains. */

export interface Outcome {
  done: number;
  /** Of what was left alone: why. */
  refused: Record<string, string>;
}

export interface Batch extends Outcome {
  remaining: boolean;
  next: string | null;
}

type Told = (done: number) => void;

/** As many as the server takes at once. */
const AT_ONCE = 500;

export async function inParts(
  ids: readonly string[],
  act: (part: string[]) => Promise<Outcome>,
  onBatch?: Told,
): Promise<Outcome> {
  const total = nothing();
  for (let start = 0; start < ids.length; start += AT_ONCE)
    add(total, await act(ids.slice(start, start + AT_ONCE)), onBatch);
  return total;
}

/** For those that are named by a filter; `after` is where the batch before has ended. */
export async function untilDone(act: (after: string | null) => Promise<Batch>, onBatch?: Told): Promise<Outcome> {
  const total = nothing();
  for (let after: string | null = null; ;) {
    const batch = await act(after);
    add(total, batch, onBatch);
    if (!batch.remaining || batch.next === null) return total;
    after = batch.next;
  }
}

function nothing(): Outcome {
  return { done: 0, refused: {} };
}

function add(total: Outcome, batch: Outcome, onBatch?: Told): void {
  total.done += batch.done;
  Object.assign(total.refused, batch.refused);
  onBatch?.(total.done);
}
