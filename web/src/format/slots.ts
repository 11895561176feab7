/** Slots of workers in words. */
import { percent, plural } from "@/format/numbers";

/** Of those that are there; empty if none is. */
export function slotsInUse(alive: readonly { slots: number; used: number }[]): string {
  if (!alive.length) return "";
  const slots = alive.reduce((sum, worker) => sum + worker.slots, 0);
  const used = alive.reduce((sum, worker) => sum + Math.min(worker.used, worker.slots), 0);
  return `${plural(alive.length, "worker")} with ${plural(slots, "slot")}, ${percent(slots ? used / slots : 0)} in use`;
}
