"""What a batch is, by what its provider said of its jobs: the guards and rules of the state machine's page (S0), by line.

Two models are asked, so there are two jobs at the provider. A fate is what each look at one of them finds; the last stays.
"""

from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from tests.contracts.stores import Hands
from tests.engine.working import eventually, on_sqlite
from tests.products.batches.desk import Desk, EchoProvider, opened_desk, request
from towpath import App, Fatal, RateLimited, Settings, Transient
from towpath.providers import Answer, Order, Phase, Prepared, Vanished

pytestmark = on_sqlite

DONE, PARTLY, FAILED, RUNNING = ("done",), ("partly",), ("failed",), ("running",)
ERRORS, REFUSED, GONE = ("error",), ("refused",), ("gone",)
LOOKS = {
    "running": Answer("WORKING", Phase.RUNNING), "strange": Answer("CONTEMPLATING", Phase.RUNNING),
    "done": Answer("READY", Phase.COMPLETED), "partly": Answer("READY", Phase.PARTIAL),
    "failed": Answer("BROKEN", Phase.FAILED, error="the provider gave it up"), "error": Transient("503"),
    "gone": Vanished("404"), "slow down": RateLimited("429", retry_after=0.01), "denied": Fatal("401"),
}  # fmt: skip
TABLE = [
    ("S0.7 its submission fails", REFUSED, REFUSED, "FAILED", ["FAILED", "FAILED"]),
    ("S0.10 all succeeded", DONE, DONE, "COMPLETED", ["COMPLETED", "COMPLETED"]),
    ("S0.10 one succeeded", DONE, FAILED, "PARTIAL_COMPLETE", ["COMPLETED", "FAILED"]),
    ("S0.11 all failed", FAILED, FAILED, "FAILED", ["FAILED", "FAILED"]),
    ("S0.12 one still runs", DONE, RUNNING, "IN_PROGRESS", ["COMPLETED", "WORKING"]),
    ("S0.20 each on its own", ("running", "strange", "done"), DONE, "COMPLETED", ["COMPLETED", "COMPLETED"]),
    ("S0.21 errors are asked again", ("error", "error", "done"), DONE, "COMPLETED", ["COMPLETED", "COMPLETED"]),
    ("S0.21 a good look forgives", ("error", "error", "running") * 2 + DONE, DONE, "COMPLETED", ["COMPLETED", "COMPLETED"]),
    ("S0.22 the third error", ERRORS, DONE, "PARTIAL_COMPLETE", ["FAILED", "COMPLETED"]),
    ("S0.22 of both", ERRORS, ("denied",), "FAILED", ["FAILED", "FAILED"]),
    ("a 429 is no error", ("slow down",) * 5 + DONE, DONE, "COMPLETED", ["COMPLETED", "COMPLETED"]),
    ("it knows nothing of one", GONE, DONE, "PARTIAL_COMPLETE", ["FAILED", "COMPLETED"]),
    ("S0.32 one in part", PARTLY, DONE, "PARTIAL_COMPLETE", ["PARTIAL_COMPLETE", "COMPLETED"]),
    ("S0.32 one in part, none else", PARTLY, FAILED, "PARTIAL_COMPLETE", ["PARTIAL_COMPLETE", "FAILED"]),
]


class Fated(EchoProvider):
    def __init__(self) -> None:
        super().__init__()
        self.fates: dict[str, tuple[str, ...]] = {}

    async def poll(self, order: Order, prepared: Prepared, external_id: str) -> Answer:
        look, *rest = self.fates[order.model]
        self.fates[order.model] = tuple(rest) or (look,)
        found = LOOKS[look]
        if isinstance(found, Exception):
            raise found
        return found


@pytest.fixture
def fated() -> Fated:
    return Fated()


@pytest.fixture
async def desk(database_url: str, settings: Settings, fated: Fated) -> AsyncIterator[Desk]:
    async with opened_desk(App(database_url, settings=settings), fated) as desk:
        yield desk


async def sent(desk: Desk, fated: Fated, one: tuple[str, ...], other: tuple[str, ...], name: str = "m") -> str:
    first, second = f"{name}1", f"{name}2"
    fated.fates |= {first: one, second: other}
    fated.refuses |= {model for model in (first, second) if fated.fates[model] is REFUSED}
    return await desk.make([request("a"), request("b", fail=first if one is PARTLY else False)], models=[first, second])


async def test_what_its_jobs_come_to_is_what_the_batch_is(desk: Desk, fated: Fated):
    batches = {
        line: await sent(desk, fated, one, other, f"{number}-m") for number, (line, one, other, *_) in enumerate(TABLE)
    }
    expected = {line: (status, jobs) for line, _, _, status, jobs in TABLE}
    found = {}

    async def as_in_the_table():
        for line, batch_id in batches.items():
            found[line] = await desk.get(batch_id)
        return found if {line: told(one) for line, one in found.items()} == expected else None

    async with desk.working(concurrency=8):
        with suppress(pytest.fail.Exception):  # what differs is said line by line
            await eventually(as_in_the_table, 60)
    assert {line: told(one) for line, one in found.items()} == expected
    for line, one in found.items():
        if one["status"] != "IN_PROGRESS":
            assert one["has_results"], f"S0.23, S0.48: they are stored before it ends ({line})"
            assert [line["custom_id"] for line in await desk.results(one["id"])] == ["a", "a", "b", "b"]
    failures = {line: found[line]["provider_state"]["jobs"][0]["transient_failures"] for line in found}
    assert {line for line, count in failures.items() if count} == {
        "S0.22 the third error", "S0.22 of both", "it knows nothing of one",
    }  # fmt: skip
    assert set(failures.values()) == {0, 3}


def told(found):
    return found["status"], [job["status"] for job in (found["provider_state"] or {"jobs": []})["jobs"]]


@pytest.mark.parametrize(("other", "status"), [(RUNNING, "FAILED"), (DONE, "PARTIAL_COMPLETE")])
async def test_after_26_hours_what_is_unfinished_fails_and_what_is_finished_stays(
    desk: Desk, fated: Fated, other: tuple[str, ...], status: str
):
    """S0.9, S0.19; resolution 6."""
    batch_id = await sent(desk, fated, RUNNING, other)
    async with desk.working():
        await eventually(lambda: _all_seen(desk, batch_id), 60)
        hands = Hands(desk.app.services.store)
        table = hands.table("provider_job")
        await hands.sql(
            f"UPDATE {table} SET deadline = deadline - 26.1 * 3600 WHERE state = 'submitted' RETURNING 1 AS done"
        )
        found = await desk.done(batch_id)
    assert found["status"] == status
    assert "within 26 hours" in (await desk.results(batch_id))[0]["error"]["message"]


async def _all_seen(desk: Desk, batch_id: str) -> bool:
    found = (await desk.get(batch_id))["provider_jobs"]
    return len(found) == 2 and all(job["polls"] and job["status"] != "SUBMITTED" for job in found)


async def test_one_that_waits_for_nothing_that_is_on_record_fails(desk: Desk, fated: Fated):
    """S0.8, for what waits (resolution 4): one that still submits has nothing on record yet, and goes on."""
    from towpath.engine.tending.reconciler import wake_forsaken

    batch_id = await sent(desk, fated, RUNNING, RUNNING)
    async with desk.working():
        await eventually(lambda: _all_seen(desk, batch_id), 60)
        hands = Hands(desk.app.services.store)
        await hands.sql(f"DELETE FROM {hands.table('provider_job')} RETURNING 1 AS done")
        await wake_forsaken(desk.app.services)
        found = await desk.done(batch_id)
    assert found["status"] == "FAILED"
    assert "no longer on record" in found["error"]


async def test_a_message_that_comes_twice_submits_once(desk: Desk, fated: Fated):
    """S0.14: the second finds nothing pending."""
    batch_id = await sent(desk, fated, DONE, DONE)
    [job] = await desk.app.list(subject=("batch", batch_id))
    again = await desk.app.enqueue(
        job.operation, {"batch_id": batch_id}, tenant=job.tenant, queue=job.queue, subject=("batch", batch_id)
    )
    async with desk.working():
        assert (await desk.done(batch_id))["status"] == "COMPLETED"
        await eventually(lambda: _ended(desk, again.id), 60)
    assert len(fated.ledger.paid) == 2
    assert not fated.ledger.twice
    assert (await desk.get(batch_id))["status"] == "COMPLETED"


async def _ended(desk: Desk, job_id: str) -> bool:
    return (await desk.app.get(job_id)).ended
