/** Who speaks in a recording, and what people say of that. */
import type { Segment, Speakers } from "@/api/types";
import { answer, client } from "@/services/client";

const at = (id: string, number: number) => ({ path: { recording_id: id, number } });

export function renameSpeaker(id: string, number: number, name: string | null): Promise<Speakers> {
  const asked = { params: at(id, number), body: { name } };
  return answer(client.PATCH("/api/recordings/{recording_id}/speakers/{number}", asked));
}

export function mergeSpeakers(id: string, number: number, into: number): Promise<Speakers> {
  const asked = { params: at(id, number), body: { into } };
  return answer(client.POST("/api/recordings/{recording_id}/speakers/{number}/merge", asked));
}

/** By how they sound. */
export function splitSpeaker(id: string, number: number): Promise<Speakers> {
  const asked = { params: at(id, number), body: {} };
  return answer(client.POST("/api/recordings/{recording_id}/speakers/{number}/split", asked));
}

/** Refused with a conflict if the line does not say any more what the reader saw. */
export function assignLine(id: string, line: Segment, speaker: string | null): Promise<Segment> {
  const asked = { params: at(id, line.number), body: { speaker, was: line.text } };
  return answer(client.PATCH("/api/recordings/{recording_id}/transcript/{number}", asked));
}
