import type { RowPush } from "@/stores/live";

/** The rows with what was told of them; those that are gone are left out. */
export function withNews<Row extends { id: string }>(rows: Row[], news: readonly RowPush<Partial<Row>>[]): Row[] {
  const told = new Map(news.map(({ id, row }) => [id, row]));
  if (!rows.some(({ id }) => told.has(id))) return rows;
  return rows
    .filter(({ id }) => told.get(id) !== null)
    .map((row) => (told.has(row.id) ? { ...row, ...told.get(row.id) } : row));
}
