"""A worker that has two queues: one that tasks come from, and one that takes what it says."""

from __future__ import annotations

import json
import logging

import httpx

from towpath import SchemaInvalid, Transient
from towpath.brokers import Message
from towpath.brokers.sqs import SqsQueue
from towpath.fleet.messages import HandedTask, StatusReport, WorkerReport, read_task
from towpath.fleet.node.channel import Answer

log = logging.getLogger("towpath.fleet.worker")
_VISIBILITY = 60
_PATIENCE = 10.0


class OverQueues:
    """A task's message is deleted when its worker has said that it has it: from then on its silence is noticed, and the task
    is sent anew. A copy that came to somebody else as well is not."""

    def __init__(self, work_url: str, status_url: str) -> None:
        self._work, self._status = SqsQueue(work_url), SqsQueue(status_url)
        self._held: dict[tuple[str, int], Message] = {}
        self._client = httpx.AsyncClient(timeout=_PATIENCE)

    async def claim(self, worker: WorkerReport, wait_seconds: float) -> HandedTask | None:
        messages = await self._work.receive(1, wait_seconds=int(wait_seconds), visibility_seconds=_VISIBILITY)
        for message in messages:
            try:
                task = read_task(message.body)
            except SchemaInvalid as error:
                log.warning("dropped message %s: %s", message.id, error)
                await self._work.delete([message])
                continue
            self._held[task.task, task.attempt] = message
            return task
        return None

    async def acknowledged(self, task: HandedTask) -> None:
        message = self._held.pop((task.task, task.attempt), None)
        if message is not None:
            await self._work.delete([message])

    async def report(self, report: StatusReport) -> Answer:
        await self._send(report.model_dump_json(exclude_none=True))
        return Answer()

    async def look(self, task: HandedTask) -> Answer:
        """A marker lies in the object store, if there is anything to tell."""
        if task.control_url is None:
            return Answer()
        try:
            found = await self._client.get(task.control_url)
            if found.status_code != 200:
                return Answer()
            told = json.loads(found.content)
            return Answer(
                bool(told.get("cancelled")), told.get("get_url"), told.get("put_url"), told.get("urls_until")
            )  # fmt: skip
        except (httpx.HTTPError, ValueError, AttributeError):
            return Answer()  # the next heartbeat looks again

    async def greet(self, worker: WorkerReport) -> None:
        await self._send(worker.model_dump_json())

    async def _send(self, body: str) -> None:
        if unsent := await self._status.send([body]):
            raise Transient(f"the status queue did not take it: {unsent[0].reason}")

    async def aclose(self) -> None:
        self._work.close()
        self._status.close()
        await self._client.aclose()
