"""One task on a remote worker: fetched, worked on, stored and reported, with heartbeats all along."""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from towpath import ConfigurationError, Fatal, RateLimited, SchemaInvalid, Transient, plain_text
from towpath.fleet.messages import COMPLETED, FAILED, PROGRESS, URL_EXPIRED, Failure, HandedTask, StatusReport
from towpath.fleet.node.channel import Answer, Channel
from towpath.fleet.node.objects import Described, Expired, ObjectFailed, Objects
from towpath.fleet.node.operations import RemoteContext, RemoteOperation, fitting, operation

log = logging.getLogger("towpath.fleet.worker")
_RESEND = 2.0
_ONE_MORE = 3
"""Heartbeats before URLs end that fresh ones are asked for."""


class Attempt:
    def __init__(
        self, channel: Channel, task: HandedTask, worker_id: str, client: httpx.AsyncClient, folder: Path | None,
        heartbeat_seconds: float,
    ):  # fmt: skip
        self._every = min(task.heartbeat_seconds, heartbeat_seconds)
        self._channel, self._task, self._worker = channel, task, worker_id
        self._objects, self._folder = Objects(client), folder
        self._sequence = 0
        self._ctx: RemoteContext | None = None
        self._over = asyncio.Event()
        self._handing_back = False

    async def run(self) -> str:
        """What was reported at last; an empty text if nobody wants to know any more."""
        if time.time() >= self._task.deadline:
            await self._channel.acknowledged(self._task)
            return ""  # it was given up long ago
        # The number says when: a worker that is started again does not begin below what it has said before.
        self._sequence = int(time.time() * 1000)
        if time.time() >= self._task.urls_until:
            return await self._said_last({"status": URL_EXPIRED})
        working = asyncio.create_task(self._work())
        beating = asyncio.create_task(self._beat())
        stopped = asyncio.create_task(self._over.wait())
        try:
            await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done() and not self._handing_back:
                log.warning("task %s is not wanted any more", self._task.task)
                return ""
            said = self._released() if not working.done() else working.result()
        finally:
            for one in (working, beating, stopped):
                one.cancel()
            await asyncio.gather(working, beating, stopped, return_exceptions=True)
        return await self._said_last(said)

    def hand_back(self) -> None:
        """The worker goes down: the task is given to another, and loses nothing by it."""
        self._handing_back = True
        self._over.set()

    def _released(self) -> dict[str, Any]:
        told = f"worker {self._worker} was stopped"
        return {"status": FAILED, "failure": Failure(category="rate_limited", error_class="WorkerStopped", message=told)}

    async def _work(self) -> dict[str, Any]:
        """The last report."""
        known = operation(self._task.operation)
        if known is None:
            said = f"this worker knows no operation {self._task.operation!r}"
            failure = Failure(category="fatal", error_class="UnknownOperation", message=said, remedy="start one that does")
            return {"status": FAILED, "failure": failure}
        try:
            with tempfile.TemporaryDirectory(prefix="towpath-fleet-", dir=self._folder) as folder:
                ctx = self._ctx = RemoteContext(
                    self._task.task, self._task.attempt, self._task.name, self._task.settings, Path(folder) / "input",
                    Path(folder) / "output",
                )  # fmt: skip
                return await self._worked(known, ctx)
        except Expired:
            return {"status": URL_EXPIRED}
        except ObjectFailed as error:
            if time.time() >= self._task.urls_until:
                return {"status": URL_EXPIRED}  # whatever its refusal was called
            return {"status": FAILED, "failure": error.failure}
        except OSError as error:
            said = f"worker {self._worker} could not keep the task's files: {error.strerror or type(error).__name__}"
            failure = Failure(kind="storage", error_class=type(error).__name__, message=said, remedy="see to its disk")
            return {"status": FAILED, "failure": failure}

    async def _worked(self, known: RemoteOperation, ctx: RemoteContext) -> dict[str, Any]:
        task = self._task
        described = Described(task.size, task.etag, task.sha256)
        await self._objects.download(lambda: self._task.get_url, ctx.input, described)
        try:
            await known.function(ctx)
        except Exception as error:
            log.warning("task %s failed: %s", task.task, error)
            return {"status": FAILED, "failure": _failure_of(error, known)}
        if not ctx.output.exists():
            said = f"the operation {known.name} has written no result"
            return {"status": FAILED, "failure": Failure(category="fatal", kind=known.kind, message=said)}
        output = await self._objects.upload(lambda: self._task.put_url, ctx.output)
        return {"status": COMPLETED, "output": output}

    async def _beat(self) -> None:
        """At once, and then again and again. One that does not go through is no reason to stop: the next one may."""
        acknowledged = False
        while True:
            try:
                answer = await self._report({"status": PROGRESS, "refresh": self._ends_soon()})
                if not acknowledged:
                    await self._channel.acknowledged(self._task)
                    acknowledged = True
                self._hear(answer)
                self._hear(await self._channel.look(self._task))
            except Transient as error:
                log.warning("a heartbeat of task %s did not go through: %s", self._task.task, error)
            except (Fatal, SchemaInvalid, ConfigurationError) as error:
                log.error("task %s is left: %s", self._task.task, error)
                self._over.set()
            await asyncio.sleep(self._every)

    def _ends_soon(self) -> bool:
        return self._task.urls_until - time.time() < _ONE_MORE * self._every

    def _hear(self, answer: Answer) -> None:
        if answer.stop:
            if self._ctx is not None:
                self._ctx.stop()
            self._over.set()
        until = answer.urls_until
        if answer.get_url and answer.put_url and until is not None and until > self._task.urls_until:
            fresh = {"get_url": answer.get_url, "put_url": answer.put_url, "urls_until": until}
            self._task = self._task.model_copy(update=fresh)

    async def _report(self, said: dict[str, Any]) -> Answer:
        ctx, task = self._ctx, self._task
        self._sequence += 1
        notes = fitting(ctx.notes) if ctx else []
        report = StatusReport(
            task=task.task, attempt=task.attempt, secret=task.secret, worker_id=self._worker, sequence=self._sequence,
            heartbeat_seconds=max(1.0, self._every), progress=ctx.current if ctx else None,
            total=ctx.total if ctx else None, message=ctx.message if ctx else None, notes=notes,
            used=ctx.used if ctx and said["status"] == COMPLETED else [], **said,
        )  # fmt: skip
        answer = await self._channel.report(report)
        if ctx:
            del ctx.notes[: len(notes)]
        return answer

    async def _said_last(self, said: dict[str, Any]) -> str:
        """Again and again until it has gone through, or there is nobody left to wait for it."""
        while time.time() < self._task.deadline:
            with suppress(Transient):
                await self._report(said)
                await self._channel.acknowledged(self._task)
                return str(said["status"])
            await asyncio.sleep(_RESEND)
        return ""


def _failure_of(error: Exception, known: RemoteOperation) -> Failure:
    category: Any = "transient"
    if isinstance(error, Transient | RateLimited | SchemaInvalid | Fatal):
        category = error.category.value
    elif isinstance(error, ConfigurationError | NotImplementedError | TypeError):
        category = "fatal"
    remedy = getattr(error, "remedy", None)
    said = plain_text(str(error), 2000) or type(error).__name__
    return Failure(
        category=category, kind=known.kind, error_class=type(error).__name__, message=said,
        remedy=plain_text(remedy, 2000) if isinstance(remedy, str) else None,
    )  # fmt: skip
