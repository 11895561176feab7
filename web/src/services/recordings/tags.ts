/** Tags of recordings. Capitals do not tell two of them apart. */
import type { RecordingDetail, RecordingTag } from "@/api/types";
import { answer, client } from "@/services/client";
import { inParts, type Outcome } from "@/services/many";

export function listTags(): Promise<RecordingTag[]> {
  return answer(client.GET("/api/recordings/tags"));
}

export function setTags(id: string, tags: string[]): Promise<RecordingDetail> {
  const params = { path: { recording_id: id } };
  return answer(client.PATCH("/api/recordings/{recording_id}", { params, body: { tags } })) as Promise<RecordingDetail>;
}

export function tagMany(ids: readonly string[], action: "tag" | "untag", tags: string[]): Promise<Outcome> {
  return inParts(ids, (part) => answer(client.POST("/api/recordings/bulk", { body: { action, ids: part, tags } })));
}

/** "Board, 2026" as two tags. */
export function tagsIn(text: string): string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
}
