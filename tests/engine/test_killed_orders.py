"""Workers that order at a provider are killed at every named point on the way, for every provider; others finish the work,
and the provider's ledger says that nothing was paid for twice."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.nursery import Nursery
from tests.contracts.stores import Hands
from tests.engine.ordering import LIBRARIES, case_of, make_app, ordered
from tests.engine.working import eventually, in_state, on_sqlite, working
from tests.providers.cases import CASES
from towpath.core.provider_jobs import ProviderJob
from towpath.providers import Grade
from towpath.providers.anthropic_words import mark_of
from towpath.providers.simulator import SimulatedJob, Simulator, served

BEFORE_IT_WAITS = (
    "spend.added", "submit.intended", "submit.prepared", "submit.calling", "submit.accepted", "submit.recorded",
)  # fmt: skip
WHILE_IT_WAITS = ("poll.locked", "poll.taken", "poll.answered")
ON_THE_WAY = (*BEFORE_IT_WAITS, *WHILE_IT_WAITS)
AFTER_A_LOST_ANSWER = "submit.looked"

ALWAYS = ("AWS", "ANTHROPIC", "SARVAM")
"""`make test` has one of each grade, OPENAI being the other, and both that cannot say; `make chaos` has every provider on
both databases."""
ELSE = [case.name for case in CASES if case.name not in (*ALWAYS, "OPENAI")]

both_databases = pytest.mark.parametrize("provider", ["OPENAI"])


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    made = Nursery(*LIBRARIES, "tests.engine.ordering")
    yield made
    made.close()


@pytest.fixture
def simulator(provider: str) -> Iterator[Simulator]:
    made = case_of(provider).simulator()
    with served(made):
        yield made


class Yard:
    """One provider, one database: orders go out, workers that are to die are started, and what they left is finished."""

    def __init__(self, app, where: tuple[str, ...], nursery: Nursery, simulator: Simulator, folder: Path) -> None:
        self.app, self.where, self.nursery, self.simulator, self.folder = app, where, nursery, simulator, folder
        self.jobs: list[str] = []
        self.queues: list[str] = []
        self.grade = case_of(where[0]).adapter(simulator).grade

    async def put(self, queue: str) -> str:
        for name, data in ordered(self.where[0])[1].blobs.items():
            await self.app.blobs.put(name, data)
        job = await self.app.enqueue("order", {}, queue=queue)
        self.jobs.append(job.id)
        self.queues.append(queue)
        return job.id

    async def killed_at(self, point: str, queue: str) -> None:
        output = self.folder / f"{queue}.out"
        pid = self.nursery.start("tests.engine.ordering", [*self.where, queue, point], output)
        try:
            async with asyncio.timeout(90):
                while (code := self.nursery.poll(pid)) is None:  # noqa: ASYNC110  (another process, which rings no bell)
                    await asyncio.sleep(0.02)
        except TimeoutError:
            code = None
        finally:
            if self.nursery.poll(pid) is None:
                os.killpg(pid, signal.SIGKILL)
        assert code == -signal.SIGKILL, f"{point} was not reached:\n{output.read_text()[-3000:]}"

    async def time_passes(self) -> None:
        """For calls that nobody has the answer to, which are certainly over then, and for looks that came to nothing."""
        hands = Hands(self.app.services.store)
        earlier = "{0} = {0} - 2000" if hands.store.dialect == "sqlite" else "{0} = {0} - interval '2000 seconds'"
        table = hands.table("provider_job")
        await hands.sql(
            f"UPDATE {table} SET {earlier.format('called_at')}, {earlier.format('next_poll_at')} RETURNING job_id"
        )
        for job_id in self.jobs:
            if (await self.app.get(job_id)).reason == "provider_call":
                await hands.shift("deadline", -2000.0, job_id)

    async def finished(self) -> list:
        async with working(self.app, *self.queues):
            async with asyncio.timeout(120):
                while not all([(await self.app.get(job_id)).ended for job_id in self.jobs]):
                    await self.time_passes()
                    await self.somebody_says_what_nobody_knew()
                    await asyncio.sleep(0.3)
            return [await self.app.result(job_id, timeout=60) for job_id in self.jobs]

    async def somebody_says_what_nobody_knew(self) -> None:
        """A person looks at the provider: what is there is adopted by its id, what is not is sent again."""
        for row in await self.app.provider_jobs.unknown():
            assert self.grade is Grade.AMBIGUOUS, "whoever can say is asked, and nobody else"
            there = [job.id for job in self.simulator.jobs.values() if sent_for(row, job)]
            if there:
                await self.app.provider_jobs.adopt(row.id, there[0])
            else:
                await self.app.provider_jobs.resubmit(row.id)


def sent_for(row: ProviderJob, job: SimulatedJob) -> bool:
    """As a person can tell: by the id that was reserved for the order (SARVAM), or its mark on each request (ANTHROPIC)."""
    return job.id in (row.prepared_json or "") or mark_of(row.key) in str(job.request)


@pytest.fixture
async def yard(request: pytest.FixtureRequest, provider: str, nursery: Nursery, simulator: Simulator, tmp_path: Path):
    where = (provider, request.getfixturevalue("database_url"), (tmp_path / "blobs").as_uri(), simulator.url)
    async with make_app(*where) as app:
        yield Yard(app, where, nursery, simulator, tmp_path)


async def paid_for_once_wherever(yard: Yard) -> None:
    for point in BEFORE_IT_WAITS:
        await yard.put(point)
    await asyncio.gather(*(yard.killed_at(point, point) for point in BEFORE_IT_WAITS))
    for point in WHILE_IT_WAITS:
        await yard.put(point)
        await yard.killed_at(point, point)
    count = len(ON_THE_WAY)
    assert len(yard.simulator.ledger.paid) <= count
    assert await yard.finished() == [["completed", "r0"]] * count
    assert len(yard.simulator.ledger.paid) == count
    assert not yard.simulator.ledger.twice


@both_databases
async def test_an_order_is_paid_for_once_wherever_its_worker_is_killed(database_url, yard):
    await paid_for_once_wherever(yard)


@on_sqlite
@pytest.mark.parametrize("provider", ALWAYS)
async def test_at_a_provider_of_every_grade_it_is_paid_for_once(database_url, yard):
    await paid_for_once_wherever(yard)


@pytest.mark.slow
@pytest.mark.parametrize("provider", ELSE)
async def test_at_every_other_provider_it_is_paid_for_once(database_url, yard):
    await paid_for_once_wherever(yard)


@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("provider", ALWAYS)
async def test_on_the_other_database_as_well(database_url, yard):
    await paid_for_once_wherever(yard)


@pytest.mark.parametrize("provider", ["OPENAI", "ANTHROPIC"])
@on_sqlite
async def test_one_that_is_killed_while_it_looks_for_a_lost_order_leaves_it_to_the_next(database_url, yard):
    await yard.put("lost")
    await yard.killed_at("submit.accepted", "lost")
    await yard.time_passes()
    await yard.killed_at(AFTER_A_LOST_ANSWER, "lost")
    assert await yard.finished() == [["completed", "r0"]]
    assert len(yard.simulator.ledger.paid) == 1


@both_databases
async def test_a_job_that_waits_for_its_call_to_be_over_says_so(database_url, yard):
    job_id = await yard.put("lost")
    await yard.killed_at("submit.accepted", "lost")
    async with working(yard.app, "lost"):
        row = await in_state(yard.app, job_id, "waiting", 60)
        assert row.reason == "provider_call"
        assert "may still be on its way" in (await yard.app.explain(job_id)).sentence


@on_sqlite
@pytest.mark.parametrize("provider", ["ANTHROPIC", "SARVAM"])
@pytest.mark.parametrize("point", ["submit.calling", "submit.accepted"])
async def test_where_nobody_can_say_it_is_parked_and_not_sent_again_until_a_person_speaks(database_url, yard, point):
    """Sarvam's job is made before it costs anything, so it can be asked whether it was started: if so, it is adopted."""
    job_id = await yard.put("doubt")
    await yard.killed_at(point, "doubt")
    paid = len(yard.simulator.ledger.paid)
    assert paid == (1 if point == "submit.accepted" else 0)

    async def decided():
        await yard.time_passes()
        job = await yard.app.get(job_id)
        return job if job.ended or job.reason == "submit_unknown" else None

    async with working(yard.app, "doubt"):
        job = await eventually(decided, 60)
        assert job.ended == (yard.where[0] == "SARVAM" and paid == 1)
        assert len(yard.simulator.ledger.paid) == paid, "nobody has sent it again"
    assert await yard.finished() == [["completed", "r0"]]
    assert len(yard.simulator.ledger.paid) == 1
