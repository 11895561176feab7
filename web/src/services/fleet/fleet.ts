/** Everything that is asked of the server about the fleet: remote workers, their tasks, and how they do. */
import type { FleetReport, FleetStatus, FleetTask, FleetTaskDetail, FleetWindow, FleetWorker } from "@/api/types";
import { underBase } from "@/services/base";
import { answer, client } from "@/services/client";
import type { Page } from "@/services/jobs";

export const WINDOWS: readonly { value: FleetWindow; title: string }[] = [
  { value: "1h", title: "1 hour" },
  { value: "24h", title: "24 hours" },
  { value: "7d", title: "7 days" },
  { value: "30d", title: "30 days" },
];

/** Tables that spreadsheets take; the server escapes what they would run. */
export const TABLES = [
  { what: "tasks", title: "All tasks" },
  { what: "trend", title: "Trend" },
  { what: "causes", title: "Causes of failure" },
  { what: "workers", title: "Workers" },
] as const;

export function tableAddress(what: (typeof TABLES)[number]["what"], window: FleetWindow): string {
  return underBase(`/api/fleet/report.csv?what=${what}&window=${window}`);
}

/** Tasks have no `id` of that name in the API. */
export type ListedTask = FleetTask & { id: string };

export async function listTasks(
  status: readonly FleetStatus[],
  after: string | null,
  limit = 50,
): Promise<Page<ListedTask>> {
  const query = { status: [...status], after: after ?? undefined, limit };
  const page = await answer(client.GET("/api/fleet/tasks", { params: { query } }));
  return { items: page.items.map((task) => ({ ...task, id: task.task_id })), next: page.next };
}

export function getTask(id: string): Promise<FleetTaskDetail> {
  return answer(client.GET("/api/fleet/tasks/{task_id}", { params: { path: { task_id: id } } }));
}

/** Those under way with each time that they were sent; `more` says that there are others. */
export async function tasksInFlight(most = 20): Promise<{ tasks: FleetTaskDetail[]; more: boolean }> {
  const page = await listTasks(["QUEUED", "IN-PROGRESS"], null, most);
  return { tasks: await Promise.all(page.items.map((task) => getTask(task.id))), more: page.next !== null };
}

export async function listWorkers(): Promise<FleetWorker[]> {
  return (await answer(client.GET("/api/fleet/workers", { params: { query: { limit: 200 } } }))).items;
}

export function getReport(window: FleetWindow): Promise<FleetReport> {
  return answer(client.GET("/api/fleet/report", { params: { query: { window } } }));
}
