/** What the push stream says about batches: each one as the server lists it, shown as it is. */
import type { Batch } from "@/api/types";
import { registerKind, type Pushed, type RowPush } from "@/stores/live";

export const batchesIn: (pushed: Pushed) => RowPush<Batch>[] = registerKind<Batch>("batch");

/** The rows with what was told of them; those that are gone are left out. */
export function withNews<Row extends Batch>(rows: Row[], news: readonly RowPush<Batch>[]): Row[] {
  const told = new Map(news.map(({ id, row }) => [id, row]));
  if (!rows.some(({ id }) => told.has(id))) return rows;
  return rows
    .filter(({ id }) => told.get(id) !== null)
    .map((row) => (told.has(row.id) ? { ...row, ...told.get(row.id) } : row));
}
