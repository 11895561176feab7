/** The microphone, from the browser's permission to the last piece: every piece is kept before anything else is done with it. */
import { keepPiece, keepTake, type Take } from "@/services/microphone/store";

/** How much is lost at most when everything stops at once, and then some. */
export const PIECE_MS = 500;
const TYPES = ["audio/webm;codecs=opus", "audio/mp4", "audio/ogg;codecs=opus"];
const ENDINGS: Record<string, string> = { "audio/webm": "webm", "audio/mp4": "m4a", "audio/ogg": "ogg" };

export interface Hearing {
  take: Take;
  /** How loud it is at this moment, from 0 to 1. */
  level(): number;
  pause(): void;
  resume(): void;
  /** Ends when the last piece is kept. */
  stop(): Promise<void>;
}

export interface HearingOptions {
  take: Omit<Take, "name" | "type"> & { stem: string };
  /** A piece is safe: so many milliseconds have been heard. */
  onKept(): void;
  /** The microphone was taken away or the browser gave up; what came until then is kept. */
  onEnded(): void;
  /** A piece could not be kept: the disk is full, or the browser forbids it. */
  onLost(caught: unknown): void;
}

/** Why this browser cannot record; null if it can. */
export function unable(): string | null {
  if (!window.isSecureContext)
    return "Browsers let a page use the microphone only over https or on the same machine. Ask whoever runs this server.";
  if (!("mediaDevices" in navigator) || typeof MediaRecorder === "undefined") return "This browser cannot record sound.";
  return null;
}

/** What a refusal means for whoever pressed the button. */
export function refusalOf(caught: unknown): string {
  const name = caught instanceof DOMException ? caught.name : "";
  if (name === "NotAllowedError" || name === "SecurityError")
    return "The browser keeps the microphone from this page. Allow it beside the address, and try again.";
  if (name === "NotFoundError") return "No microphone was found. Plug one in, and try again.";
  if (name === "NotReadableError") return "Something else holds the microphone. Close it, and try again.";
  return caught instanceof Error ? caught.message : String(caught);
}

/**
 * What browsers do for calls is in the way here: taking away echoes and noise changes voices, by which speakers are told apart,
 * and takes away who speaks from the loudspeakers or from across the room.
 */
const AS_IT_IS = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: true };

export async function hear(options: HearingOptions): Promise<Hearing> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: AS_IT_IS });
  try {
    return await begun(stream, options);
  } catch (caught) {
    letGo(stream);
    throw caught;
  }
}

function letGo(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

async function begun(stream: MediaStream, options: HearingOptions): Promise<Hearing> {
  const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type));
  const recorder = new MediaRecorder(stream, mimeType ? { mimeType, audioBitsPerSecond: 64_000 } : undefined);
  const type = (mimeType ?? recorder.mimeType).split(";")[0] ?? "";
  const { stem, ...rest } = options.take;
  const take: Take = { ...rest, type, name: `${stem}.${ENDINGS[type] ?? "webm"}` };
  await keepTake(take);

  let number = 0;
  let writing = Promise.resolve();
  recorder.ondataavailable = ({ data }) => {
    if (!data.size) return;
    const mine = number;
    number += 1;
    writing = writing
      .then(() => keepPiece(take.id, mine, data))
      .then(options.onKept)
      .catch(options.onLost);
  };
  const ended = new Promise<void>((resolve) => (recorder.onstop = () => resolve()));
  for (const track of stream.getAudioTracks()) track.addEventListener("ended", options.onEnded);
  recorder.onerror = options.onEnded;
  const meter = meterOf(stream);
  recorder.start(PIECE_MS);

  return {
    take,
    level: meter.level,
    pause: () => recorder.state === "recording" && recorder.pause(),
    resume: () => recorder.state === "paused" && recorder.resume(),
    async stop() {
      if (recorder.state !== "inactive") recorder.stop();
      await ended;
      await writing;
      meter.close();
      letGo(stream);
    },
  } as Hearing;
}

function meterOf(stream: MediaStream): { level(): number; close(): void } {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 1024;
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  return {
    level() {
      analyser.getFloatTimeDomainData(samples);
      return Math.min(1, Math.sqrt(samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0)));
    },
    close: () => void context.close(),
  };
}
