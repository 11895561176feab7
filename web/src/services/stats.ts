import type { Stats, StatsWindow } from "@/api/types";
import { answer, client } from "@/services/client";

export function getStats(window: StatsWindow, filter: { operation?: string; queue?: string } = {}): Promise<Stats> {
  return answer(client.GET("/api/stats", { params: { query: { window, ...filter } } }));
}
