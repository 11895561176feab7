/** The tenant's ways to summarise, asked for where somebody may choose one. */
import { computed, type ComputedRef } from "vue";
import type { SummaryTemplate } from "@/api/types";
import { useLiveQuery } from "@/composables/useLiveQuery";
import { listTemplates } from "@/services/recordings/templates";

export interface TemplateChoices {
  /** Empty where nothing could follow them: no chat service is set up. */
  items: ComputedRef<readonly SummaryTemplate[]>;
  nameOf(id: string | null): string | null;
}

export function useTemplates(): TemplateChoices {
  const { data } = useLiveQuery(listTemplates);
  const items = computed(() => (data.value?.followed ? data.value.items : []));
  return { items, nameOf: (id) => data.value?.items.find((one) => one.id === id)?.name ?? null };
}
