/** What the push stream says about the fleet: tasks as the server lists them, and who is there. */
import type { FleetPresence } from "@/api/types";
import type { ListedTask } from "@/services/fleet/fleet";
import { registerKind, type Pushed, type RowPush } from "@/stores/live";

export const tasksIn: (pushed: Pushed) => RowPush<ListedTask>[] = registerKind<ListedTask>("task");
export const workersIn: (pushed: Pushed) => RowPush<FleetPresence>[] = registerKind<FleetPresence>("fleet_worker");

/** For what depends on tasks as a whole, such as figures: any of them makes it ask again within this time. */
export function afterAnyTask(ms: number): (pushed: Pushed) => number | null {
  return (pushed) => (tasksIn(pushed).length ? ms : null);
}
