/** Everything that is asked of the server about batches. */
import type {
  Batch,
  BatchDetail,
  BatchPreview,
  BatchStatus,
  Estimate,
  EstimateRequest,
  MadeBatch,
  NewCompletion,
  NewTranscription,
  ProviderInfo,
  ProviderJob,
} from "@/api/types";
import { underBase } from "@/services/base";
import { answer, client } from "@/services/client";
import type { Page } from "@/services/jobs";

export interface BatchFilter {
  status: BatchStatus[];
}

const at = (id: string) => ({ path: { batch_id: id } });

export function listBatches(filter: BatchFilter, after: string | null, limit = 50): Promise<Page<Batch>> {
  const query = { status: filter.status, after: after ?? undefined, limit };
  return answer(client.GET("/api/batches", { params: { query } }));
}

export function getBatch(id: string): Promise<BatchDetail> {
  return answer(client.GET("/api/batches/{batch_id}", { params: at(id) }));
}

export async function listProviders(): Promise<ProviderInfo[]> {
  return (await answer(client.GET("/api/providers"))).providers;
}

export function createCompletion(body: NewCompletion): Promise<MadeBatch> {
  return answer(client.POST("/api/batches/completion", { body }));
}

export function createTranscription(body: NewTranscription): Promise<MadeBatch> {
  return answer(client.POST("/api/batches/transcription", { body }));
}

export function estimateBatch(body: EstimateRequest): Promise<Estimate> {
  return answer(client.POST("/api/batches/estimate", { body }));
}

export function previewBatch(id: string, failed: boolean, limit = 20): Promise<BatchPreview> {
  return answer(client.GET("/api/batches/{batch_id}/preview", { params: { ...at(id), query: { failed, limit } } }));
}

export function cancelBatch(id: string): Promise<{ cancelled: string[] }> {
  return answer(client.POST("/api/batches/{batch_id}/cancel", { params: at(id) }));
}

export function retryBatch(id: string): Promise<MadeBatch> {
  return answer(client.POST("/api/batches/{batch_id}/retry", { params: at(id) }));
}

export function deleteBatch(id: string): Promise<{ deleted: number }> {
  return answer(client.DELETE("/api/batches/{batch_id}", { params: at(id) }));
}

const order = (id: string, orderId: string) => ({ path: { batch_id: id, provider_job_id: orderId } });

export function adoptOrder(id: string, orderId: string, externalId: string): Promise<ProviderJob> {
  const asked = { params: order(id, orderId), body: { external_id: externalId } };
  return answer(client.POST("/api/batches/{batch_id}/provider-jobs/{provider_job_id}/adopt", asked));
}

export function resubmitOrder(id: string, orderId: string): Promise<ProviderJob> {
  const asked = { params: order(id, orderId) };
  return answer(client.POST("/api/batches/{batch_id}/provider-jobs/{provider_job_id}/resubmit", asked));
}

export function resultsAddress(id: string): string {
  return underBase(`api/batches/${encodeURIComponent(id)}/results`);
}
