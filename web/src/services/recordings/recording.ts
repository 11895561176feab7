/** Everything that is asked of the server about one recording. */
import type {
  MadeShare,
  NewShare,
  RecordingDetail,
  Reprocess,
  Segment,
  Share,
  SharedRecording,
  Transcript,
  Waveform,
} from "@/api/types";
import { underBase } from "@/services/base";
import { answer, client } from "@/services/client";
import type { ExportFormat } from "@/services/recordingList";

const at = (id: string) => ({ path: { recording_id: id } });

// The client's types widen the pair in `eta_seconds` to a list.
export function getRecording(id: string): Promise<RecordingDetail> {
  return answer(client.GET("/api/recordings/{recording_id}", { params: at(id) })) as Promise<RecordingDetail>;
}

export function renameRecording(id: string, title: string): Promise<RecordingDetail> {
  const asked = client.PATCH("/api/recordings/{recording_id}", { params: at(id), body: { title } });
  return answer(asked) as Promise<RecordingDetail>;
}

export function deleteRecording(id: string): Promise<{ deleted: number }> {
  return answer(client.DELETE("/api/recordings/{recording_id}", { params: at(id) }));
}

export function reprocessRecording(id: string, asked: Partial<Reprocess>): Promise<{ job_id: string }> {
  const body: Reprocess = { what: "transcription", priority: 1, replace_edits: false, ...asked };
  return answer(client.POST("/api/recordings/{recording_id}/reprocess", { params: at(id), body }));
}

export function getTranscript(id: string): Promise<Transcript> {
  return answer(client.GET("/api/recordings/{recording_id}/transcript", { params: at(id) }));
}

/** Refused with a conflict if the line does not say any more what the reader saw. */
export function correctLine(id: string, line: Segment, text: string | null): Promise<Segment> {
  const path = { recording_id: id, number: line.number };
  const body = { text, was: line.text };
  return answer(client.PATCH("/api/recordings/{recording_id}/transcript/{number}", { params: { path }, body }));
}

export function dismissEdit(id: string, editId: string): Promise<unknown> {
  const path = { recording_id: id, edit_id: editId };
  return answer(client.DELETE("/api/recordings/{recording_id}/unplaced-edits/{edit_id}", { params: { path } }));
}

export function listShares(id: string): Promise<Share[]> {
  return answer(client.GET("/api/recordings/{recording_id}/shares", { params: at(id) }));
}

export function createShare(id: string, body: NewShare): Promise<MadeShare> {
  return answer(client.POST("/api/recordings/{recording_id}/shares", { params: at(id), body }));
}

export function withdrawShare(id: string, shareId: string): Promise<unknown> {
  const path = { recording_id: id, share_id: shareId };
  return answer(client.DELETE("/api/recordings/{recording_id}/shares/{share_id}", { params: { path } }));
}

export function getWaveform(id: string): Promise<Waveform> {
  return answer(client.GET("/api/recordings/{recording_id}/waveform", { params: at(id) }));
}

export function getSharedWaveform(secret: string): Promise<Waveform> {
  return answer(client.GET("/api/shared/{secret}/waveform", { params: { path: { secret } } }));
}

export function openShare(secret: string): Promise<SharedRecording> {
  return answer(client.GET("/api/shared/{secret}", { params: { path: { secret } } }));
}

export function audioAddress(id: string): string {
  return underBase(`api/recordings/${encodeURIComponent(id)}/audio`);
}

export function sharedAudioAddress(secret: string): string {
  return underBase(`api/shared/${encodeURIComponent(secret)}/audio`);
}

export function exportAddress(id: string, format: ExportFormat): string {
  return underBase(`api/recordings/${encodeURIComponent(id)}/export?format=${format}`);
}
