/** What hears and chats here: on the machine, at services, and by default. */
import type { ModelKind, ModelList, ModelService, ModelServiceChange, NewModelService, TriedService } from "@/api/types";
import { answer, client } from "@/services/client";

/** The operation that fetches a model: its jobs tell that the list has changed. */
export const PULL = "models.pull";

export function listModels(): Promise<ModelList> {
  return answer(client.GET("/api/models"));
}

export function chooseDefault(kind: ModelKind, model: string | null): Promise<ModelList> {
  return answer(client.PUT("/api/models/defaults/{kind}", { params: { path: { kind } }, body: { model } }));
}

export function pullModel(model: string): Promise<{ job_id: string }> {
  return answer(client.POST("/api/models/pull", { body: { model, force: false } }));
}

export async function removeModel(model: string): Promise<void> {
  await answer(client.DELETE("/api/models/pulled/{model}", { params: { path: { model } } }));
}

export function listServices(): Promise<ModelService[]> {
  return answer(client.GET("/api/models/services"));
}

export function createService(body: NewModelService): Promise<ModelService> {
  return answer(client.POST("/api/models/services", { body }));
}

export function updateService(name: string, body: ModelServiceChange): Promise<ModelService> {
  return answer(client.PUT("/api/models/services/{name}", { params: { path: { name } }, body }));
}

export async function deleteService(name: string): Promise<void> {
  await answer(client.DELETE("/api/models/services/{name}", { params: { path: { name } } }));
}

export function tryService(kind: ModelKind, model: string): Promise<TriedService> {
  return answer(client.POST("/api/models/test", { body: { kind, model } }));
}
