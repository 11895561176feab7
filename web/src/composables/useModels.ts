/** The models that there are, current while some are being fetched. */
import type { ModelList } from "@/api/types";
import { useLiveQuery, type LiveQuery } from "@/composables/useLiveQuery";
import { listModels, PULL } from "@/services/models/models";

const SOON_MS = 300;

export function useModels(): LiveQuery<ModelList> {
  return useLiveQuery(listModels, {
    after: ({ jobs }) => (jobs.some(({ job }) => job.operation === PULL) ? SOON_MS : null),
  });
}
