/**
 * Sends a file that something is to be made of later, by tus: what breaks off goes on where it was, also after the page was
 * loaded anew and the same file chosen again. Answers the file's id.
 */
import { problemFrom, Problem, unreachable } from "@/services/problem";
import { getUpload, uploadIdIn, uploadsAddress } from "@/services/uploads/client";
import { begunBefore, rememberBegun } from "@/services/uploads/memory";

export interface Sending {
  /** What the server takes it for. */
  purpose: string;
  /** Called with the share that is there. */
  onProgress(share: number): void;
  signal: AbortSignal;
}

const TUS = { "Tus-Resumable": "1.0.0" };
const TRIES = 3;
const PAUSE_MS = 1000;
const PATIENCE = 120;
/** Smaller ones are sent again as fast as they are looked up. */
const WORTH_KEEPING = 8 * 1024 * 1024;

export async function sendFile(file: File, sending: Sending): Promise<string> {
  const before = begunBefore(file, sending.purpose);
  let offset = before === null ? null : await reached(before, sending.signal).catch(() => null);
  const address = before !== null && offset !== null ? before : await begin(file, sending);
  offset ??= 0;
  for (let tried = 1; offset < file.size; tried += 1) {
    try {
      offset = await append(address, file, offset, sending);
    } catch (caught) {
      if (sending.signal.aborted || tried >= TRIES || !(caught instanceof Problem) || caught.slug !== "unreachable")
        throw caught;
      await pause();
      offset = await reached(address, sending.signal);
    }
  }
  rememberBegun(file, sending.purpose, null);
  return handedOver(uploadIdIn(address));
}

async function begin(file: File, { purpose, signal }: Sending): Promise<string> {
  const told = { filename: file.name || "file", purpose };
  const metadata = Object.entries(told).map(([name, value]) => `${name} ${base64(value)}`);
  const headers = { ...TUS, "Upload-Length": String(file.size), "Upload-Metadata": metadata.join(",") };
  const made = await asked(uploadsAddress(), { method: "POST", headers, signal });
  const address = made.headers.get("Location") ?? "";
  if (file.size >= WORTH_KEEPING) rememberBegun(file, purpose, address);
  return address;
}

async function reached(address: string, signal: AbortSignal): Promise<number> {
  const told = await asked(address, { method: "HEAD", headers: TUS, signal });
  return Number(told.headers.get("Upload-Offset"));
}

async function asked(address: string, init: RequestInit): Promise<Response> {
  const response = await fetch(address, { cache: "no-store", ...init }).catch((caught: unknown) => {
    throw init.signal?.aborted ? caught : unreachable();
  });
  if (!response.ok) throw problemFrom(await response.json().catch(() => null), response);
  return response;
}

/** Everything from there on; only this kind of request tells how far it is. */
function append(address: string, file: File, offset: number, { onProgress, signal }: Sending): Promise<number> {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    const headers = { ...TUS, "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream" };
    request.open("PATCH", address);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => onProgress((offset + event.loaded) / Math.max(1, file.size));
    request.onerror = () => fail(unreachable());
    request.onabort = () => fail(new DOMException("given up", "AbortError"));
    request.onload = () => {
      if (request.status < 300) return done(Number(request.getResponseHeader("Upload-Offset")));
      const response = new Response(request.responseText, { status: request.status });
      void response.json().then(
        (body: unknown) => fail(problemFrom(body, response)),
        () => fail(problemFrom(null, response)),
      );
    };
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file.slice(offset));
  });
}

/** The last byte is there; handing the file over may take a moment longer than the answer to it. */
async function handedOver(id: string): Promise<string> {
  for (let asked = 0; asked < PATIENCE; asked += 1) {
    const upload = await getUpload(id);
    const made = upload.result?.asset_id;
    if (typeof made === "string") return made;
    if (upload.error) throw new Problem({ title: "The file was not taken", detail: upload.error.detail });
    await pause();
  }
  throw new Problem({ title: "The file is not ready yet", detail: "It has arrived, and nobody has taken it over." });
}

function pause(): Promise<void> {
  return new Promise((done) => setTimeout(done, PAUSE_MS));
}

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
}
