/** The few figures that are always in view, shared by the navigation and the home page. */
import { shallowRef } from "vue";
import type { Counts } from "@/api/types";
import { afterAnyJob, useLiveQuery } from "@/composables/useLiveQuery";
import { getCounts } from "@/services/jobs";

export const counts = shallowRef<Counts | null>(null);

/** Called once, by the shell; everybody else reads `counts`. */
export function useCounts(): void {
  useLiveQuery(getCounts, { after: afterAnyJob(1500), pollMs: 30_000, into: counts });
}
