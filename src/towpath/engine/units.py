"""A unit of work: a function of its transaction, run as often as it takes to commit it once.

It may not wait for the blob store. A payload that is too large for its row is named there as if it were a blob already; when
the unit has returned, it is rolled back, the blobs are put, and it is run again with the same jobs. So the unit notices
nothing, and is run twice however many such payloads it has. One that finds other rows the second time may make other
payloads of them, and is run a third time. One that makes another payload whenever it is run would be run for ever, and
is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from towpath.core.errors import Fatal
from towpath.core.records import NewJob
from towpath.engine.services import Services
from towpath.engine.transaction import Fence, Inherit, Transaction, Unit
from towpath.engine.values import payload_key
from towpath.store.contract import Tx

T = TypeVar("T")

_MOST_RUNS = 3


class _NotPlaced(BaseException):
    """Ends a run whose payloads are not there yet. Nobody who catches exceptions catches this one."""

    def __init__(self, large: Sequence[_Large]) -> None:
        super().__init__(f"{len(large)} payloads")
        self.large = large


class _Large:
    """A payload, and the job it is for."""

    def __init__(self, job: NewJob) -> None:
        self.job_id, self.operation, self.text = job.id, job.operation, job.payload_json


class _UnitTransaction(Transaction):
    def __init__(self, tx: Tx, services: Services, inherit: Inherit | None, placed: Sequence[_Large]) -> None:
        super().__init__(tx, services, inherit)
        self._ready = list(placed)
        self._missing: dict[str, _Large] = {}

    async def _place(self, job: NewJob) -> None:
        found = next((one for one in self._ready if one.text == job.payload_json), None)
        if found is not None:
            self._ready.remove(found)
            job.id = found.job_id
        else:
            self._missing[job.id] = _Large(job)
        job.payload_json = self._services.values.reference(job.payload_json, payload_key(job.id))

    def missing(self) -> list[_Large]:
        """Payloads of jobs that have a row now, and are not in the blob store."""
        return [one for job_id, one in self._missing.items() if job_id not in self.unused]

    def left_over(self, placed: Sequence[_Large]) -> set[str]:
        """Jobs whose payloads were put there, and that did not come to be."""
        return {one.job_id for one in self._ready} | {one.job_id for one in placed if one.job_id in self.unused}


async def transact(services: Services, unit: Unit[T], fence: Fence | None = None, inherit: Inherit | None = None) -> T:
    placed: list[_Large] = []
    missing: Sequence[_Large] = ()

    async def work(tx: Tx) -> tuple[T, set[str]]:
        if fence is not None:
            await fence.hold(tx)
        transaction = _UnitTransaction(tx, services, inherit, placed)
        value = await unit(transaction)
        if large := transaction.missing():
            raise _NotPlaced(large)
        return value, transaction.left_over(placed)

    for run in range(1, _MOST_RUNS + 1):
        try:
            value, left_over = await services.store.run(work)
        except _NotPlaced as stopped:
            missing = stopped.large
        else:
            await services.drop_payloads(left_over)
            return value
        for one in missing if run < _MOST_RUNS else ():
            await services.values.place(one.text, payload_key(one.job_id))
            placed.append(one)
    await services.drop_payloads(one.job_id for one in placed)
    raise _restless(missing[0])


def _restless(one: _Large) -> Fatal:
    return Fatal(
        f"a unit was run {_MOST_RUNS} times and gave {one.operation!r} another payload of {len(one.text):,} characters each "
        f"time; one that large is stored before the unit is run again, and has to be the same then",
        remedy="make ids, times and random values before app.transact, and let the unit use them",
    )
