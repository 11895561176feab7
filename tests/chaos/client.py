"""A client of the engine that writes down what it asked for and what it was promised.

In the driver's process it feeds a run; as a process of its own (`python -m tests.chaos.client`) it can be killed at any
point of an enqueue, a cancel, a requeue or a signal.
"""

import argparse
import asyncio
import itertools
import os
import random
import time
from datetime import UTC, datetime
from typing import Any

from tests.chaos.witness import Witness
from tests.chaos.worker import answer_inquests, arguments, prepare
from tests.chaos.workload import MAIN, NARROW, ROOTS, make_app
from towpath import App
from towpath.core.errors import JobNotFound, NotRequeueable

# Longer than any outage that is made here; a call that takes longer hangs.
_PATIENCE = 90.0

Wish = tuple[str, dict[str, Any], dict[str, Any]]

# One of everything; what is capped comes in threes, so that the cap has something to hold back.
MIX: tuple[Wish, ...] = (
    ("plain", {}, {}),
    ("steps", {}, {}),
    ("gatherer", {"leaves": 3}, {}),
    ("spawner", {"leaves": 3, "bad_leaves": 1}, {}),
    ("abandoner", {"leaves": 2}, {}),
    ("flaky", {"times": 1}, {}),
    ("later", {}, {}),
    ("waiter", {}, {}),
    ("chain", {}, {}),
    ("threaded", {}, {}),
    ("doomed", {}, {}),
    *(("plain", {"seconds": 0.03}, {"lane": NARROW}),) * 3,
    *(("strict", {"seconds": 0.03}, {}),) * 3,
    *(("spawner", {"leaves": 2}, {"lane": ROOTS}),) * 3,
    ("plain", {}, {"delay": 0.3}),
    *(("fair", {"seconds": 0.01}, {"tenant": "many"}),) * 4,
    ("fair", {"seconds": 0.01}, {"tenant": "few"}),
    *(("slow", {"rounds": 5}, {}),) * 2,
)


class Client:
    def __init__(self, app: App, witness: Witness, seed: int = 0) -> None:
        self._app, self._witness = app, witness
        self._random = random.Random(seed)
        self._numbers = itertools.count(1)
        self.known: list[str] = []

    def _ask(self, wish: Wish) -> dict[str, Any]:
        operation, payload, options = wish
        token = f"{os.getpid()}-{next(self._numbers)}"
        options = dict(options)
        if "delay" in options:
            options["run_at"] = datetime.fromtimestamp(time.clock_gettime(time.CLOCK_REALTIME) + options.pop("delay"), UTC)
        self._witness.tell("asked", token=token, operation=operation)
        return {"operation": operation, "payload": {**payload, "token": token}, **options}

    def _acknowledged(self, job_id: str, asked: dict[str, Any]) -> None:
        run_at = asked["run_at"].timestamp() if "run_at" in asked else None
        self._witness.tell("ack", job_id, what="enqueue", token=asked["payload"]["token"], run_at=run_at)
        self.known.append(job_id)

    async def enqueue(self, operation: str, payload: dict[str, Any] | None = None, **options: Any) -> str:
        asked = self._ask((operation, payload or {}, options))
        async with asyncio.timeout(_PATIENCE):
            job = await self._app.enqueue(**asked)
        self._acknowledged(job.id, asked)
        return job.id

    async def enqueue_many(self, wishes: list[Wish]) -> list[str]:
        asked = [self._ask(wish) for wish in wishes]
        async with asyncio.timeout(_PATIENCE):
            jobs = await self._app.enqueue_many(asked)
        for job, item in zip(jobs, asked, strict=True):
            self._acknowledged(job.id, item)
        return [job.id for job in jobs]

    async def enqueue_inside(self, wishes: list[Wish]) -> list[str]:
        """Many in a transaction, as a slice does that has rows of its own to write with them."""
        asked = [self._ask(wish) for wish in wishes]
        services = self._app.services
        new = services.new_jobs(asked, None)
        async with asyncio.timeout(_PATIENCE):
            made = await services.store.run(lambda tx: tx.insert_jobs(new))
        for one, item in zip(made, asked, strict=True):
            self._acknowledged(one.id, item)
        return [one.id for one in made]

    async def cancel(self, job_id: str) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE):
                done = await self._app.cancel(job_id)
        except JobNotFound:  # it was promised; that it is gone is the checker's business
            return False
        if done:
            self._witness.tell("ack", job_id, what="cancel")
        return done

    async def requeue(self, job_id: str, **options: Any) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._app.requeue(job_id, **options)
        except (NotRequeueable, JobNotFound):
            return False
        self._witness.tell("ack", job_id, what="requeue")
        return True

    async def signal(self, job_id: str, name: str = "go") -> bool:
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._app.signal(job_id, name, {"by": os.getpid()})
        except (NotRequeueable, JobNotFound):
            return False
        self._witness.tell("ack", job_id, what="signal")
        return True

    async def feed(self) -> None:
        """One of everything: half of it one by one, half in bulk, by itself or inside of a transaction."""
        wishes = list(MIX)
        self._random.shuffle(wishes)
        half = len(wishes) // 2
        for operation, payload, options in wishes[:half]:
            await self.enqueue(operation, payload, **options)
        await self.enqueue_many(wishes[half::2])
        await self.enqueue_inside(wishes[half + 1 :: 2])

    async def meddle(self, times: int) -> None:
        """Cancels, requeues and signals at random among the jobs it knows, and changes a lane now and then."""
        for _ in range(times):
            job_id = self._random.choice(self.known)
            match self._random.randrange(5):
                case 0:
                    await self.cancel(job_id)
                case 1:
                    await self.requeue(job_id)
                case 2:
                    await self.requeue(job_id, payload={"mended": True}, keep_steps=self._random.random() < 0.5)
                case 3:
                    await self._app.queues.lane(MAIN, "wide", weight=self._random.uniform(0.5, 2.0))
                case _:
                    await self.signal(job_id)


async def run(options: argparse.Namespace, witness: Witness) -> None:
    answer_inquests()
    async with make_app(options.url, witness) as app:
        client = Client(app, witness, options.seed)
        for _ in range(options.rounds):
            await client.feed()
            await client.meddle(10)
    witness.tell("client done")


def main() -> None:
    parser = arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    witness = Witness(options.log)
    prepare(options, witness)
    asyncio.run(run(options, witness))


if __name__ == "__main__":
    main()
