/** Questions to one recording. Each is a job: it is answered whether or not somebody waits for it. */
import type { Answered } from "@/api/types";
import { answer, client } from "@/services/client";

export interface Said {
  text: string;
  /** Where it can be heard, each second once, in the order of the recording. */
  seconds: number[];
}

export function earlierQuestions(recordingId: string): Promise<Answered[]> {
  const query = { recording_id: recordingId };
  return answer(client.GET("/api/documents/ask/earlier", { params: { query } })) as Promise<Answered[]>;
}

/** Does not wait for the answer. */
export function ask(recordingId: string, question: string): Promise<Answered> {
  const body = { question, recording_id: recordingId, wait: 0 };
  return answer(client.POST("/api/documents/ask", { body })) as Promise<Answered>;
}

/** Why nothing here answers questions; null: something does. */
export async function whyNoAnswers(): Promise<string | null> {
  return (await answer(client.GET("/api/documents/ask"))).remedy;
}

export function isUnderWay({ status }: Pick<Answered, "status">): boolean {
  return status === "waiting" || status === "answering";
}

/** Sentences with the seconds that they rest on. */
export function saidIn({ sentences }: Pick<Answered, "sentences">): Said[] {
  return sentences.map(({ text, starts }) => {
    const seconds = starts.filter((start): start is number => start !== null).map(Math.floor);
    return { text, seconds: [...new Set(seconds)].sort((left, right) => left - right) };
  });
}
