/**
 * Uppy without a face: sends files by tus, keeps them in IndexedDB until they are there, and goes on after whatever
 * happened. It comes in a chunk of its own, so that no page waits for it.
 */
import Uppy, { type Body, type UppyFile } from "@uppy/core";
import GoldenRetriever from "@uppy/golden-retriever";
import Tus from "@uppy/tus";
import { asProblem } from "@/services/problem";
import { getUpload, giveUp, uploadIdIn, uploadsAddress } from "@/services/uploads/client";
import { problemOf, stuckOf } from "@/services/uploads/failing";
import { rememberLeftovers, takeLeftovers } from "@/services/uploads/memory";
import { Pace } from "@/services/uploads/pace";
import { goesOnByItself, restorationOf } from "@/services/uploads/restoring";
import { rowOf, type FileMeta, type UploadOptions, type UploadRow } from "@/services/uploads/row";

type Held = UppyFile<FileMeta, Body> & { tus?: { uploadUrl?: string | null } };

export interface EngineOptions {
  /** Of whose uploads these are: what is kept in this browser is kept under it. */
  id: string;
  /** Whether something was left here by an earlier visit. */
  expecting: boolean;
  onRows(rows: UploadRow[]): void;
}

export interface NewFile {
  file: File;
  /** Where it was in a folder that was dropped. */
  path?: string;
}

export interface UploadEngine {
  /** Stages files; answers those that are there already. */
  add(files: readonly NewFile[], options: UploadOptions, start: boolean): string[];
  start(ids: readonly string[]): void;
  change(ids: readonly string[], options: Partial<UploadOptions>): void;
  /** Stops them and deletes what has arrived of them. */
  remove(ids: readonly string[]): void;
  /** Lets go of uploads whose recordings are known to everybody. */
  forget(ids: readonly string[]): void;
  /** The server answers again: whatever waited for it goes on. */
  goOn(): void;
  /** Pauses everything and leaves it in the browser, for another tab or another day. */
  stop(): void;
}

const MIB = 1024 * 1024;
const KEPT_MS = 30 * 24 * 3600 * 1000;
/** Copies in the browser's storage. Beyond this a reload asks for the file again. */
const KEPT: { name?: string; maxFileSize: number; maxTotalSize: number } = {
  maxFileSize: 4096 * MIB,
  maxTotalSize: 16_384 * MIB,
};
/** As large as the parts in which the server commits, so that a broken connection loses little. */
const CHUNK = 8 * MIB;
const RETRY_DELAYS = [400, 1000, 2000, 4000, 8000];
const AT_ONCE = 2;
const REPAINT_MS = 120;
const SILENT = { debug() {}, warn() {}, error() {} };
/** How soon a change is in the browser's storage. Uppy's own half second is long enough for a reload to come before. */
const WRITTEN_MS = 60;
Object.assign(GoldenRetriever, { [Symbol.for("uppy test: throttleTime")]: WRITTEN_MS });
const LOOK_AGAIN_MS = [300, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000];

export async function createEngine(options: EngineOptions): Promise<UploadEngine> {
  const uppy = new Uppy<FileMeta, Body>({ id: options.id, logger: SILENT, autoProceed: false });
  const paces = new Map<string, Pace>();
  let stopped = false;
  let painting: ReturnType<typeof setTimeout> | undefined;

  uppy.use(GoldenRetriever, { expires: KEPT_MS, serviceWorker: false, indexedDB: KEPT });
  uppy.use(Tus, {
    endpoint: uploadsAddress(),
    chunkSize: CHUNK,
    retryDelays: RETRY_DELAYS,
    limit: AT_ONCE,
    removeFingerprintOnSuccess: true,
    storeFingerprintForResuming: false,
  });

  const all = (): Held[] => (stopped ? [] : (uppy.getFiles() as Held[]));
  const of = (client: string): Held | undefined => all().find((file) => file.meta.client === client);

  function paint(): void {
    painting = undefined;
    if (stopped) return;
    const rows = all().map((file) => rowOf(file, paces.get(file.id)?.perSecond() ?? null));
    options.onRows(rows.sort((left, right) => left.addedAt - right.addedAt));
  }

  function note(file: Held, change: Partial<FileMeta>): void {
    const now = stopped ? undefined : (uppy.getFile(file.id) as Held | undefined);
    if (now) uppy.setFileMeta(file.id, { ...now.meta, ...change });
  }

  /** Only options that say something go along: an empty one would be taken at its word. */
  function metadataOf({ meta }: Held): Record<string, string> {
    const { title, language, model, speakers, auto_summary, template, priority } = meta.options;
    return {
      purpose: "recording",
      priority: String(priority),
      ...(title.trim() ? { title: title.trim() } : {}),
      ...(language.trim() ? { language: language.trim() } : {}),
      ...(model ? { model } : {}),
      ...(speakers ? { speakers: "true" } : {}),
      ...(auto_summary === null ? {} : { auto_summary: String(auto_summary) }),
      ...(template && auto_summary !== false ? { template } : {}),
    };
  }

  function run(file: Held): void {
    if (file.isGhost || file.progress.uploadComplete) return;
    const uploadUrl = file.meta.problem?.kind === "refused" ? null : (file.tus?.uploadUrl ?? null);
    const sending = metadataOf(file);
    note(file, { ...sending, wanted: true, problem: null });
    uppy.setFileState(file.id, { tus: { uploadUrl, allowedMetaFields: ["name", "type", ...Object.keys(sending)] } });
    paces.set(file.id, new Pace());
    uppy.retryUpload(file.id).catch(() => undefined);
  }

  /**
   * The recording that was made of an upload; a server that is still at it is asked again, after longer and longer pauses.
   * This is no live query: no page shows the answer, the one tab that runs the engine needs it whether it is looked at or
   * not, and the first good answer is the last.
   */
  async function lookUp(file: Held, tries = 0): Promise<void> {
    const address = file.tus?.uploadUrl;
    if (stopped || !address) return;
    try {
      const found = await getUpload(uploadIdIn(address));
      const id = found.result?.id;
      const jobId = found.result?.job_id;
      if (typeof id === "string")
        note(file, { recording: { id, jobId: typeof jobId === "string" ? jobId : null }, problem: null });
      else if (found.state === "failed")
        refuse(file, found.error?.detail ?? "The upload failed", found.error?.remedy ?? null);
      else if (!file.isGhost || found.state !== "uploading") {
        note(file, { problem: stuckOf(found) });
        later();
      } // else a person has to choose it again
    } catch (caught) {
      if (asProblem(caught).status !== 404) later();
      else if (!file.isGhost) uppy.removeFile(file.id);
    }

    function later(): void {
      setTimeout(() => void lookUp(file, tries + 1), LOOK_AGAIN_MS[Math.min(tries, LOOK_AGAIN_MS.length - 1)]);
    }
  }

  function refuse(file: Held, text: string, remedy: string | null): void {
    note(file, { problem: { kind: "refused", text, remedy } });
    uppy.setFileState(file.id, { progress: { uploadStarted: null, bytesUploaded: false, bytesTotal: file.size } });
  }

  uppy.on("state-update", () => (painting ??= setTimeout(paint, REPAINT_MS)));
  uppy.on("upload-progress", (file, progress) => {
    if (file && progress.bytesUploaded) paces.get(file.id)?.add(progress.bytesUploaded);
  });
  uppy.on("upload-success", (file) => void (file && lookUp(uppy.getFile(file.id) as Held)));
  uppy.on("upload-error", (file, error, response) => {
    if (!file) return;
    const { status, body } = answered(error, response);
    note(file as Held, { problem: problemOf(status, body) });
  });

  await restored(uppy, options.expecting);
  // Uppy's own memory of running uploads is of no use: each file is started by itself.
  uppy.setState({ currentUploads: {}, recoveredState: null, allowNewUpload: true });
  for (const file of all()) {
    const next = restorationOf(file);
    if (next === "resume") run(file);
    else if (next === "look_up") void lookUp(file);
  }
  void clearLeftovers(options.id);
  paint();

  function stage({ file, path }: NewFile, chosen: UploadOptions): Held | null {
    const meta: FileMeta = {
      client: newId(),
      options: { ...chosen },
      addedAt: Date.now(),
      wanted: false,
      problem: null,
      recording: null,
    };
    try {
      const found = { name: file.name, type: file.type, data: file, meta: { ...meta, relativePath: path ?? null } };
      return (uppy.getFile(uppy.addFile(found)) as Held | undefined) ?? null;
    } catch {
      return null;
    }
  }

  return {
    add(files, chosen, start) {
      const known: string[] = [];
      for (const one of files) {
        const held = stage(one, files.length > 1 ? { ...chosen, title: "" } : chosen);
        if (!held) known.push(one.file.name);
        else if (start || held.meta.wanted) run(held);
      }
      return known;
    },
    start(ids) {
      for (const id of ids) {
        const file = of(id);
        if (file) run(file);
      }
    },
    change(ids, changed) {
      for (const id of ids) {
        const file = of(id);
        if (file) note(file, { options: { ...file.meta.options, ...changed } });
      }
    },
    remove(ids) {
      for (const id of ids) {
        const file = of(id);
        if (!file) continue;
        const running = uppy.getPlugin<Tus<FileMeta, Body>>("Tus")?.uploaders[file.id];
        const address = running?.url ?? file.tus?.uploadUrl;
        // Uppy would delete it on the server without telling us how that went.
        if (running) running.url = null;
        uppy.removeFile(file.id);
        if (address) giveUp(address).catch(() => rememberLeftovers(options.id, [address]));
      }
    },
    forget(ids) {
      for (const id of ids) {
        const file = of(id);
        if (file) uppy.removeFile(file.id);
      }
    },
    goOn() {
      for (const file of all()) if (goesOnByItself(file)) run(file);
      void clearLeftovers(options.id);
    },
    stop() {
      uppy.pauseAll();
      stopped = true;
      clearTimeout(painting);
    },
  };
}

/** Uppy says when it has found what was left here, and nothing when there was nothing. */
function restored(uppy: Uppy<FileMeta, Body>, expecting: boolean): Promise<void> {
  return new Promise((resolve) => {
    uppy.once("restored", () => resolve());
    setTimeout(resolve, expecting ? 5000 : 300);
  });
}

/** Uploads that were given up while the server could not be told. */
async function clearLeftovers(id: string): Promise<void> {
  for (const address of takeLeftovers(id)) {
    try {
      await giveUp(address);
    } catch {
      rememberLeftovers(id, [address]);
    }
  }
}

interface Response {
  getStatus(): number;
  getBody(): string;
}

function answered(error: unknown, response: { status?: number } | undefined): { status: number | null; body: string } {
  const original = (error as { originalResponse?: Response | null }).originalResponse;
  return { status: original?.getStatus() ?? response?.status ?? null, body: original?.getBody() ?? "" };
}

function newId(): string {
  const random = crypto.getRandomValues(new Uint8Array(9));
  return Array.from(random, (value) => value.toString(16).padStart(2, "0")).join("");
}
