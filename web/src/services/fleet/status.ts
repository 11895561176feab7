/** How tasks of the fleet are shown: the server's names in the reader's words. */
import type { FleetStatus, FleetTask } from "@/api/types";
import type { MarkWords } from "@/components/ui/marks";

export const FLEET_STATUSES: readonly FleetStatus[] = [
  "PENDING",
  "QUEUED",
  "IN-PROGRESS",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
];

export const FLEET_MARK: Readonly<Record<FleetStatus, MarkWords>> = {
  PENDING: { label: "Pending", icon: "clock", tone: "gray" },
  QUEUED: { label: "Queued", icon: "upload", tone: "yellow" },
  "IN-PROGRESS": { label: "In progress", icon: "workers", tone: "blue" },
  COMPLETED: { label: "Completed", icon: "done", tone: "green" },
  FAILED: { label: "Failed", icon: "alert", tone: "red" },
  CANCELLED: { label: "Cancelled", icon: "stop", tone: "gray" },
};

/** A task that failed and is tried again is not lost. */
export function markOf(task: Pick<FleetTask, "status" | "retry_at">): MarkWords {
  if (task.status === "FAILED" && task.retry_at !== null) return { label: "Retry scheduled", icon: "retry", tone: "yellow" };
  return FLEET_MARK[task.status];
}

/** The object's last part, which people know it by. */
export function titleOf(task: Pick<FleetTask, "name" | "object_key">): string {
  return task.name || task.object_key.split("/").at(-1) || task.object_key;
}
