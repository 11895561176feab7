"""Claims from the real stores come in the order of the pure model, whatever arrives, is cancelled or falls due."""

import asyncio
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from tests.contracts.stores import Hands, new_job
from tests.model.machine import TABLES
from tests.model.test_stores_follow_the_model import at_hand
from towpath.core import transitions
from towpath.core.fairness import Model
from towpath.store import ledger
from towpath.store.contract import EVERYWHERE, Claim, Tx

# Powers of two: sums of them are exact, so that a bulk's cumulated costs and single stamps meet in the same number.
costs = st.sampled_from([0.25, 0.5, 1.0, 1.0, 2.0, 64.0])
weights = st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0])
lanes = st.sampled_from("abc")
bands = st.integers(0, 3)
picks = st.integers(0, 1_000_000)


class FairMachine(RuleBasedStateMachine):
    """One queue and one worker that writes its floor after every claim, as the model does."""

    loop: asyncio.AbstractEventLoop
    hands: Hands

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.running: dict[str, int] = {}  # id -> attempt
        self.later: dict[str, tuple[str, int, float]] = {}  # id -> lane, band, cost
        self.cursors = dict(EVERYWHERE)

    def wait(self, work: Any) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, 30))

    @initialize()
    def an_empty_queue(self) -> None:
        async def unit(tx: Tx) -> None:
            for table in TABLES:
                await tx.execute_sql(f"DELETE FROM {self.hands.table(table)}")

        self.wait(self.hands.store.run(unit))

    @rule(lane=lanes, weight=weights)
    def change_a_weight(self, lane: str, weight: float) -> None:
        """It counts for new jobs only."""
        self.wait(self.hands.lane(lane, weight=weight))
        self.model.weights[lane] = weight

    @rule(lane=lanes, band=bands, cost=costs)
    def one_arrives(self, lane: str, band: int, cost: float) -> None:
        job = new_job(tenant=lane, priority=band, cost=cost)
        self.wait(self.hands.store.enqueue([job]))
        assert self.wait(self.hands.job(job.id)).pass_ == self.model.enqueue(job.id, lane, band, cost)

    @rule(arrivals=st.lists(st.tuples(lanes, bands, costs, st.booleans()), min_size=2, max_size=8))
    def many_arrive(self, arrivals: list[tuple[str, int, float, bool]]) -> None:
        jobs = [
            new_job(tenant=lane, priority=band, cost=cost, delay=60.0 if later else None)
            for lane, band, cost, later in arrivals
        ]
        self.wait(self.hands.store.enqueue(jobs))
        for job, (lane, band, cost, later) in zip(jobs, arrivals, strict=True):
            if later:
                self.later[job.id] = (lane, band, cost)
            else:
                self.model.enqueue(job.id, lane, band, cost)

    @rule(limit=st.integers(1, 6), sweep=st.booleans())
    def claim(self, limit: int, sweep: bool) -> None:
        cursors = EVERYWHERE if sweep else self.cursors
        claimed = self.wait(self.hands.store.claim(Claim("q", limit, "w", 30, cursors)))
        expected = self.model.order()[:limit]
        assert [job.id for job in claimed] == expected
        for job in claimed:
            assert self.model.claim() == job.id
            self.running[job.id] = job.attempt
        if claimed:
            floors = self.wait(self.hands.store.advance("q", self.model.floors))
            assert floors == self.model.floors
            self.cursors |= floors

    @precondition(lambda self: self.model.order())
    @rule(number=picks)
    def cancel(self, number: int) -> None:
        waiting = sorted(self.model.order())
        job_id = waiting[number % len(waiting)]
        assert self.wait(self.hands.apply(transitions.cancel(job_id))) == [None]
        self.model.cancel(job_id)

    @precondition(lambda self: self.running)
    @rule(number=picks, back=st.booleans())
    def a_running_one_ends_or_comes_back(self, number: int, back: bool) -> None:
        job_id = sorted(self.running)[number % len(self.running)]
        attempt = self.running.pop(job_id)
        if back:
            assert self.wait(self.hands.apply(transitions.release(job_id, attempt))) == [None]
            self.model.give_back(job_id)
        else:
            assert self.wait(self.hands.settle(transitions.succeed(job_id, attempt, None, solo=True))) == [None]

    @precondition(lambda self: self.later)
    @rule()
    def a_burst_falls_due(self) -> None:
        self.wait(self.hands.shift("run_at", -3600.0, *self.later))
        assert self.wait(self.hands.store.run(lambda tx: ledger.promote_due(tx, 1000))) == len(self.later)
        for job_id, (lane, band, cost) in sorted(self.later.items()):
            self.model.enqueue(job_id, lane, band, cost)
        self.later.clear()

    def teardown(self) -> None:
        """In the end everything is served, in the order that was announced."""
        announced = self.model.order()
        served = [job.id for job in self.wait(self.hands.claim(10_000))]
        assert served == announced


def test_a_store_serves_in_the_order_of_the_model(database_url):
    with at_hand(database_url) as (loop, hands):
        machine = type("OnThisStore", (FairMachine,), {"loop": loop, "hands": hands})
        run_state_machine_as_test(machine)
