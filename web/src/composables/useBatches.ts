/** The list of batches, newest first: pushed rows are shown as they come. */
import type { Batch } from "@/api/types";
import type { Pages } from "@/composables/usePages";
import { usePushedPages } from "@/composables/usePushedPages";
import { listBatches, type BatchFilter } from "@/services/batches/batch";
import { batchesIn } from "@/services/batches/news";

export function useBatches(filter: () => BatchFilter): Pages<Batch> {
  return usePushedPages((after) => listBatches(filter(), after), {
    rows: batchesIn,
    watch: filter,
    narrowed: () => filter().status.length > 0,
  });
}
