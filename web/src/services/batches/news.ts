/** What the push stream says about batches: each one as the server lists it, shown as it is. */
import type { Batch } from "@/api/types";
import { registerKind, type Pushed, type RowPush } from "@/stores/live";

export const batchesIn: (pushed: Pushed) => RowPush<Batch>[] = registerKind<Batch>("batch");
