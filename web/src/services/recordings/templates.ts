/** Ways to summarise: those that come along and those that people have written. */
import type { SummaryTemplate, SummaryTemplates, TemplateText } from "@/api/types";
import { answer, client } from "@/services/client";

export function listTemplates(): Promise<SummaryTemplates> {
  return answer(client.GET("/api/recordings/templates"));
}

export function createTemplate(body: TemplateText): Promise<SummaryTemplate> {
  return answer(client.POST("/api/recordings/templates", { body }));
}

export function changeTemplate(id: string, body: TemplateText): Promise<SummaryTemplate> {
  const path = { template_id: id };
  return answer(client.PUT("/api/recordings/templates/{template_id}", { params: { path }, body }));
}

export function deleteTemplate(id: string): Promise<unknown> {
  return answer(client.DELETE("/api/recordings/templates/{template_id}", { params: { path: { template_id: id } } }));
}
