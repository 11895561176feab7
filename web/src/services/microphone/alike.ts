/** Whether the server has a recording of this very file already. */
import { answer, client } from "@/services/client";
import type { UploadOptions } from "@/services/uploads/row";

export async function digestOf(file: Blob): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return Array.from(new Uint8Array(bytes), (one) => one.toString(16).padStart(2, "0")).join("");
}

/** The id of its recording; null if there is none, or nobody can say. */
export async function findAlike(
  file: Blob,
  { language, model, speakers, auto_summary }: UploadOptions,
): Promise<string | null> {
  try {
    const sha256 = await digestOf(file);
    const query = {
      sha256,
      language: language || undefined,
      model: model || undefined,
      speakers,
      auto_summary: auto_summary ?? undefined,
    };
    return (await answer(client.GET("/api/recordings/alike", { params: { query } }))).recording?.id ?? null;
  } catch {
    return null;
  }
}
