import type {
  LaneSettings,
  NewSchedule,
  ScheduleChange,
  ScheduleDetail,
  Queue,
  QueueDetail,
  Schedule,
  Worker,
} from "@/api/types";
import { answer, client } from "@/services/client";

export function listQueues(): Promise<Queue[]> {
  return answer(client.GET("/api/queues"));
}

export function getQueue(name: string): Promise<QueueDetail> {
  return answer(client.GET("/api/queues/{name}", { params: { path: { name } } }));
}

export function setPaused(name: string, paused: boolean): Promise<unknown> {
  const params = { path: { name } };
  return paused
    ? answer(client.POST("/api/queues/{name}/pause", { params }))
    : answer(client.POST("/api/queues/{name}/resume", { params }));
}

export function setQueueCap(name: string, maxSlots: number | null): Promise<unknown> {
  return answer(client.PATCH("/api/queues/{name}", { params: { path: { name } }, body: { max_slots: maxSlots } }));
}

export function setLane(name: string, lane: string, body: LaneSettings): Promise<unknown> {
  return answer(client.PUT("/api/queues/{name}/lanes/{lane}", { params: { path: { name, lane } }, body }));
}

export function listWorkers(): Promise<Worker[]> {
  return answer(client.GET("/api/workers"));
}

export function listSchedules(): Promise<Schedule[]> {
  return answer(client.GET("/api/schedules"));
}

export function createSchedule(body: NewSchedule): Promise<Schedule> {
  return answer(client.POST("/api/schedules", { body }));
}

export function getSchedule(name: string): Promise<ScheduleDetail> {
  return answer(client.GET("/api/schedules/{name}", { params: { path: { name } } }));
}

export function changeSchedule(name: string, body: ScheduleChange): Promise<Schedule> {
  return answer(client.PUT("/api/schedules/{name}", { params: { path: { name } }, body }));
}

export function deleteSchedule(name: string): Promise<unknown> {
  return answer(client.DELETE("/api/schedules/{name}", { params: { path: { name } } }));
}

export type ScheduleAction = "pause" | "resume" | "fire";

export async function actOnSchedule(name: string, action: ScheduleAction): Promise<string | null> {
  const params = { path: { name } };
  if (action === "fire") return (await answer(client.POST("/api/schedules/{name}/fire", { params }))).id;
  if (action === "pause") await answer(client.POST("/api/schedules/{name}/pause", { params }));
  else await answer(client.POST("/api/schedules/{name}/resume", { params }));
  return null;
}
