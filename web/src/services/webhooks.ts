import type { Delivery, NewWebhook, Webhook, WebhookChanges, WebhookRequest } from "@/api/types";
import { answer, client } from "@/services/client";
import type { Page } from "@/services/jobs";

export function listWebhooks(after: string | null = null): Promise<Page<Webhook>> {
  return answer(client.GET("/api/webhooks", { params: { query: { after: after ?? undefined, limit: 100 } } }));
}

export function createWebhook(body: WebhookRequest): Promise<NewWebhook> {
  return answer(client.POST("/api/webhooks", { body }));
}

export function updateWebhook(id: string, body: WebhookChanges): Promise<Webhook> {
  return answer(client.PATCH("/api/webhooks/{webhook_id}", { params: { path: { webhook_id: id } }, body }));
}

export async function deleteWebhook(id: string): Promise<void> {
  await answer(client.DELETE("/api/webhooks/{webhook_id}", { params: { path: { webhook_id: id } } }));
}

export function testWebhook(id: string): Promise<Delivery> {
  return answer(client.POST("/api/webhooks/{webhook_id}/test", { params: { path: { webhook_id: id } } }));
}

export function listDeliveries(id: string, after: string | null = null): Promise<Page<Delivery>> {
  const query = { after: after ?? undefined, limit: 50 };
  return answer(client.GET("/api/webhooks/{webhook_id}/deliveries", { params: { path: { webhook_id: id }, query } }));
}

export function replayDelivery(id: string, delivery: string): Promise<Delivery> {
  const path = { webhook_id: id, delivery_id: delivery };
  return answer(client.POST("/api/webhooks/{webhook_id}/deliveries/{delivery_id}/replay", { params: { path } }));
}
