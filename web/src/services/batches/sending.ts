/** Sends a file that a batch is to read, by tus: what breaks off goes on where it was. Answers the file's id. */
import { problemFrom, Problem, unreachable } from "@/services/problem";
import { getUpload, uploadIdIn, uploadsAddress } from "@/services/uploads/client";

export interface Sending {
  /** Called with the share that is there. */
  onProgress(share: number): void;
  signal: AbortSignal;
}

const TUS = { "Tus-Resumable": "1.0.0" };
const TRIES = 3;
const PAUSE_MS = 1000;
const PATIENCE = 120;

export async function sendFile(file: File, sending: Sending): Promise<string> {
  const address = await begin(file, sending.signal);
  let offset = 0;
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
  return handedOver(uploadIdIn(address));
}

async function begin(file: File, signal: AbortSignal): Promise<string> {
  const told = { filename: file.name || "requests.jsonl", purpose: "batch" };
  const metadata = Object.entries(told).map(([name, value]) => `${name} ${base64(value)}`);
  const headers = { ...TUS, "Upload-Length": String(file.size), "Upload-Metadata": metadata.join(",") };
  const made = await asked(uploadsAddress(), { method: "POST", headers, signal });
  return made.headers.get("Location") ?? "";
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
