"""Queues in bad weather: they lose, double and reorder one message in ten, and some links end before anybody begins."""

from __future__ import annotations

import random

from towpath.fleet.messages import HandedTask, StatusReport, WorkerReport
from towpath.fleet.node.channel import Answer
from towpath.fleet.node.over_queues import OverQueues

ODDS = 0.1


class Unruly(OverQueues):
    def __init__(self, work_url: str, status_url: str, chance: random.Random) -> None:
        super().__init__(work_url, status_url)
        self._chance = chance
        self._late: list[str] = []
        self._again: list[HandedTask] = []

    async def claim(self, worker: WorkerReport, wait_seconds: float) -> HandedTask | None:
        if self._again:
            return self._again.pop()
        task = await super().claim(worker, wait_seconds)
        if task is None:
            return None
        fate = self._chance.random()
        if fate < ODDS:
            await self.acknowledged(task)
            return None  # lost
        if fate < 2 * ODDS:
            self._again.append(task)
        return task.model_copy(update={"urls_until": 0.0}) if fate > 1 - ODDS / 2 else task

    async def report(self, report: StatusReport) -> Answer:
        body, fate = report.model_dump_json(exclude_none=True), self._chance.random()
        if fate < ODDS:
            return Answer()  # lost
        if fate < 2 * ODDS:
            self._late.append(body)
            return Answer()
        await self._send(body)
        if fate < 3 * ODDS:
            await self._send(body)
        while self._late:
            await self._send(self._late.pop())
        return Answer()
