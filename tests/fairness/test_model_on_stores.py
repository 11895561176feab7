"""The same history on the model and on a real database: every single claim is the same."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fairness.line import Line, open_line
from tests.fairness.programs import CLOSED, WEIGHTS, Add, Cancel, Claim, GiveBack, Move, programs
from towpath.core import transitions
from towpath.core.fairness import Model
from towpath.engine.tending import janitor
from towpath.store.contract import Claimed

_queues = count(1)


class Twin:
    """Does everything twice and compares every claim."""

    def __init__(self, line: Line) -> None:
        self.line, self.model = line, Model(weights=dict(WEIGHTS))
        self.costs: dict[str, float] = {}
        self.claimed: list[Claimed] = []
        self.open = True

    async def play(self, move: Move) -> None:
        match move:
            case Add():
                await self.add(move)
            case Claim():
                for _ in range(move.count):
                    await self.claim()
            case Cancel():
                if ready := self.model.order():
                    chosen = ready[move.which % len(ready)]
                    self.model.cancel(chosen)
                    await self.line.cancel(chosen)
            case GiveBack():
                if self.claimed:
                    await self.give_back(self.claimed.pop(move.which % len(self.claimed)))

    async def add(self, move: Add) -> None:
        ids = await self.line.add(
            move.lane, move.count, priority=move.band, cost=move.cost, delay=0.001 if move.due else None
        )
        promoted = 0 if move.due else move.count
        while promoted < move.count:
            promoted += await janitor.promote_due(self.line.app.services)
        for job_id in ids:
            self.costs[job_id] = move.cost
            self.model.enqueue(job_id, move.lane, move.band, move.cost)

    async def claim(self) -> bool:
        job, expected = await self.line.claim(), self.model.claim()
        assert (job.id if job else None) == expected
        if job is None:
            return False
        self.claimed.append(job)
        if job.tenant == CLOSED and self.open:
            await self.add(Add(CLOSED, job.priority, self.costs[job.id], 1))
        return True

    async def give_back(self, job: Claimed) -> None:
        self.model.give_back(job.id)
        assert await self.line.store.settle([transitions.release(job.id, job.attempt)]) == [None]

    async def drain(self) -> None:
        self.open = False
        while await self.claim():
            pass


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(program=programs)
async def test_the_database_claims_what_the_model_claims(
    request: pytest.FixtureRequest, database: str, program: list[Move]
) -> None:
    async with open_line(request.getfixturevalue(f"{database}_url"), f"q{next(_queues)}") as line:
        for lane, weight in WEIGHTS.items():
            await line.lane(lane, weight=weight)
        twin = Twin(line)
        for move in program:
            await twin.play(move)
        await twin.drain()
