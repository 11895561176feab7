/** Files on their way to the server as soon as they are chosen, a few at a time; what they are for is said when all are there. */
import { computed, onScopeDispose, reactive, ref, shallowReactive, type ComputedRef } from "vue";
import { asProblem } from "@/services/problem";
import type { NewFile } from "@/services/uploads/engine";
import { sendFile } from "@/services/uploads/sending";

export interface SentFile {
  key: number;
  file: File;
  /** Where it was in a folder. */
  path: string | null;
  share: number;
  assetId: string | null;
  problem: string | null;
  stop: AbortController;
}

export interface FileSending {
  rows: SentFile[];
  sent: ComputedRef<number>;
  /** Bytes of all of them. */
  size: ComputedRef<number>;
  failed: ComputedRef<number>;
  sending: ComputedRef<boolean>;
  add(files: readonly NewFile[]): void;
  drop(row: SentFile): void;
  again(row: SentFile): void;
}

const AT_ONCE = 3;

/** `purpose` is what the server takes them for. `onChange` is called when none is on its way any more, or one was left out. */
export function useFileSending(purpose: string, onChange: () => void = () => undefined): FileSending {
  const rows = shallowReactive<SentFile[]>([]);
  const tally = reactive({ sent: 0, failed: 0, bytes: 0 });
  const running = ref(0);
  const sending = computed(() => tally.sent + tally.failed < rows.length);
  let waiting: SentFile[] = [];
  let number = 0;

  function add(files: readonly NewFile[]): void {
    const added = files.map(({ file, path }) => {
      number += 1;
      tally.bytes += file.size;
      const found = { key: number, file, path: path?.replace(/^\//, "") ?? null, stop: new AbortController() };
      return reactive({ ...found, share: 0, assetId: null, problem: null }) as SentFile;
    });
    rows.push(...added);
    waiting.push(...added);
    next();
  }

  function next(): void {
    if (!sending.value) onChange();
    while (running.value < AT_ONCE) {
      const row = waiting.shift();
      if (!row) return;
      running.value += 1;
      void send(row).finally(() => {
        running.value -= 1;
        next();
      });
    }
  }

  async function send(row: SentFile): Promise<void> {
    const onProgress = (now: number): void => void (row.share = now);
    try {
      row.assetId = await sendFile(row.file, { purpose, onProgress, signal: row.stop.signal });
      if (!row.stop.signal.aborted) tally.sent += 1;
    } catch (caught) {
      if (row.stop.signal.aborted) return;
      row.problem = asProblem(caught).detail || asProblem(caught).title;
      tally.failed += 1;
    }
  }

  function drop(row: SentFile): void {
    if (row.assetId !== null) tally.sent -= 1;
    if (row.problem !== null) tally.failed -= 1;
    tally.bytes -= row.file.size;
    row.stop.abort();
    waiting = waiting.filter((one) => one !== row);
    rows.splice(rows.indexOf(row), 1);
    onChange();
  }

  function again(row: SentFile): void {
    tally.failed -= 1;
    [row.problem, row.share] = [null, 0];
    waiting.push(row);
    next();
  }

  onScopeDispose(() => {
    waiting = [];
    for (const { stop } of rows) stop.abort();
  });
  return {
    rows,
    sent: computed(() => tally.sent),
    size: computed(() => tally.bytes),
    failed: computed(() => tally.failed),
    sending,
    add,
    drop,
    again,
  };
}
