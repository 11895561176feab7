/** A transcription of many files as somebody is writing it: what is typed, what is missing, and what is sent. */
import type { NewTranscription } from "@/api/types";
import { LOCAL, modelsIn } from "@/services/batches/draft";

export interface SpeechDraft {
  title: string;
  provider: string;
  /** Names, with commas between them. */
  models: string;
  /** Uploaded files, by their ids. */
  assetIds: string[];
  /** Addresses, one on each line. */
  addresses: string;
  locale: string;
  /** How many people speak at most; empty: they are not told apart. */
  speakers: string;
  words: boolean;
  strict: boolean;
}

/** The most that a batch takes. */
export const MOST_INPUTS = 10_000;
const ADDRESS = /^(https?|s3|gs|az):\/\/\S+$/i;
const LOCALE = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/;

export function newSpeechDraft(): SpeechDraft {
  const nowhere = { title: "", models: "", addresses: "", locale: "", speakers: "", words: false, strict: false };
  return { ...nowhere, provider: LOCAL, assetIds: [] };
}

export function addressesIn(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return [...new Set(lines)].filter(Boolean);
}

/** The first line that is no address, from 1; null: there is none. */
export function wrongAddress(text: string): number | null {
  const at = text.split("\n").findIndex((line) => line.trim() && !ADDRESS.test(line.trim()));
  return at < 0 ? null : at + 1;
}

export function inputsOf(draft: SpeechDraft): string[] {
  return [...draft.assetIds, ...addressesIn(draft.addresses)];
}

/** What is missing before it can be sent, in words; null: nothing. */
export function missingInSpeech(draft: SpeechDraft): string | null {
  const count = inputsOf(draft).length;
  const wrong = wrongAddress(draft.addresses);
  if (!count) return "Choose files, or write addresses.";
  if (wrong !== null) return `Line ${wrong} is no address: it begins with https://, s3://, gs:// or az://.`;
  if (count > MOST_INPUTS) return `A batch has ${MOST_INPUTS.toLocaleString("en")} inputs at most.`;
  if (draft.locale.trim() && !LOCALE.test(draft.locale.trim())) return "A language is written like en-US.";
  const speakers = draft.speakers.trim();
  if (speakers && !(Number.isInteger(Number(speakers)) && Number(speakers) >= 2 && Number(speakers) <= 30))
    return "Speakers are a number from 2 to 30, or left empty.";
  return null;
}

export function transcriptionOf(draft: SpeechDraft): NewTranscription {
  return {
    provider: draft.provider,
    models: draft.provider === LOCAL ? [] : modelsIn(draft.models),
    inputs: inputsOf(draft),
    title: draft.title.trim() || null,
    locale: draft.locale.trim() || null,
    diarization: draft.speakers.trim() ? Number(draft.speakers) : false,
    word_timestamps: draft.words,
    strict_inputs: draft.strict,
  };
}
