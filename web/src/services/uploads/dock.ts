/** Whether the popup is open, folded or away; kept in this browser. It comes back when there is new work. */
import { recallJson, remember } from "@/services/remembering";
import type { UnifiedItem } from "@/services/uploads/unify";
import { viewOf } from "@/services/recordings/status";

const KEY = "towpath.dock";
const JUST_ENDED_MS = 10 * 60_000;

export interface DockState {
  folded: boolean;
  /** What was under way when it was closed; null: it is not closed. */
  closedOver: string[] | null;
  /** Somebody opened it after all was done: it stays until they fold or close it. */
  kept: boolean;
}

/** Where there is little room it begins folded. */
export function readDock(narrow: boolean): DockState {
  const found = recallJson(KEY) as Partial<DockState> | null;
  const closedOver = Array.isArray(found?.closedOver) ? found.closedOver : null;
  return { folded: found?.folded ?? narrow, closedOver, kept: found?.kept === true };
}

export function writeDock(state: DockState): void {
  remember(KEY, JSON.stringify(state));
}

function underWay(items: readonly UnifiedItem[]): string[] {
  return items.filter((item) => viewOf(item.status) === "active").map((item) => item.place);
}

export function closed(state: DockState, items: readonly UnifiedItem[]): DockState {
  return { ...state, closedOver: underWay(items), kept: false };
}

/** Nothing moves, waits to be uploaded or went wrong: there is nothing left to say. */
export function allDone(items: readonly UnifiedItem[]): boolean {
  return items.length > 0 && items.every((item) => viewOf(item.status) === "completed");
}

/** Open again once something is under way that was not when it was closed; what has ended may come again. */
export function reopened(state: DockState, items: readonly UnifiedItem[]): DockState {
  if (!state.closedOver) return state;
  const before = new Set(state.closedOver);
  const now = underWay(items);
  if (now.some((place) => !before.has(place))) return { ...state, closedOver: null };
  const left = now.filter((place) => before.has(place));
  return left.length === state.closedOver.length ? state : { ...state, closedOver: left };
}

/** Whether there is anything to show: something is going on, went wrong, or has just ended. */
export function isDue(items: readonly UnifiedItem[], now: number): boolean {
  return items.some((item) => viewOf(item.status) !== "completed" || now - item.at < JUST_ENDED_MS);
}
