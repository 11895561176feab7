/** What the upload engine asks the server besides sending bytes. */
import type { Upload } from "@/api/types";
import { underBase } from "@/services/base";
import { answer, client } from "@/services/client";
import { asProblem } from "@/services/problem";
import type { UploadLimits } from "@/services/uploads/checking";

const TUS = { "Tus-Resumable": "1.0.0" };

export function uploadsAddress(): string {
  return underBase("api/uploads");
}

/** Limits that are not known refuse nothing; the server has the last word anyway. */
export async function getLimits(): Promise<UploadLimits> {
  const [most, room] = await Promise.all([largest().catch(() => null), roomLeft().catch(() => null)]);
  return { most, room };
}

async function largest(): Promise<number | null> {
  const told = await fetch(uploadsAddress(), { method: "OPTIONS", cache: "no-store" });
  return Number(told.headers.get("Tus-Max-Size")) || null;
}

async function roomLeft(): Promise<number | null> {
  const used = await answer(client.GET("/api/assets/usage"));
  return used.quota === null ? null : Math.max(0, used.quota - used.bytes);
}

export function getUpload(id: string): Promise<Upload> {
  return answer(client.GET("/api/uploads/{upload_id}", { params: { path: { upload_id: id } } }));
}

export function uploadIdIn(address: string): string {
  return new URL(address, document.baseURI).pathname.split("/").pop() ?? "";
}

/** Gives an upload up, with everything that has come of it: also if its last byte arrived a moment ago. */
export async function giveUp(address: string): Promise<void> {
  const id = uploadIdIn(address);
  const gone = await fetch(address, { method: "DELETE", headers: TUS });
  if (gone.ok || gone.status === 404) return;
  if (gone.status !== 409) throw new Error(`the server answered ${gone.status}`);
  const made = (await getUpload(id)).result?.id;
  if (typeof made === "string") await deleteMade(made);
}

async function deleteMade(id: string): Promise<void> {
  try {
    await answer(client.DELETE("/api/recordings/{recording_id}", { params: { path: { recording_id: id } } }));
  } catch (caught) {
    if (asProblem(caught).status !== 404) throw caught;
  }
}
