"""The place in line that is told is the order in which subjects are really begun, whoever sent them and however."""

import asyncio
import random
from collections.abc import Sequence

import pytest

from tests.engine.working import Gate, eventually, on_sqlite, working
from towpath import App, Context, InLine, Parts, Work
from towpath.engine.asking import line, prospects
from towpath.engine.running import claims
from towpath.engine.running.worker import Worker

LANES = {
    "south": {"max_roots": 1},
    "east": {"max_slots": 1},
    "west": {"weight": 3.0},
    "far": {"max_roots": 2},
    "wide": {"max_slots": 2},
}
TENANTS = ("north", *LANES)


@pytest.fixture(autouse=True)
def _exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """The floor is written with every turn, so that what follows from it does not hang on the clock."""
    monkeypatch.setattr(claims, "_WRITE_EVERY", 0.0)


class Shop:
    """Orders are packed, some of them in parts; others of its jobs have no subject."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.begun: list[str] = []
        self.parts: dict[str, int] = {}
        self.held: Gate | None = None
        self.holds_after = 0
        self.held_part: Gate | None = None
        self.worker: Worker | None = None
        app.operation("pack", queue="shop")(self._pack)
        app.operation("pack.part", queue="shop")(self._part)
        app.operation("sweep", queue="shop")(self._sweep)
        app.workload("order")(self._workload)

    async def work_one_by_one(self) -> None:
        """A worker that has begun a job takes no other: what follows from its end, such as an open gate, is there before
        anybody looks for the next. Otherwise the two may come in either order."""
        while await self.left():
            self.worker = self.app.worker(["shop"], 1)
            async with asyncio.timeout(30):
                await self.worker.run()
        self.worker = None

    async def left(self) -> bool:
        return bool([job for state in ("queued", "running", "waiting") for job in await self.app.list(state=state)])

    def _take_no_more(self) -> None:
        if self.worker is not None:
            self.worker.stop()

    async def _pack(self, ctx: Context, number: str) -> None:
        self._take_no_more()
        if number not in self.begun:
            await self._begin(number)
        if self.parts[number]:
            await ctx.gather("pack.part", range(self.parts[number]), cost=2.0)

    async def _part(self, ctx: Context, number: int) -> None:
        self._take_no_more()
        if self.held_part is not None and number == 1:
            await self.held_part.wait()

    async def _sweep(self, ctx: Context, number: str) -> None:
        self._take_no_more()
        await self._begin(number)

    async def _begin(self, number: str) -> None:
        self.begun.append(number)
        if self.held is not None and len(self.begun) == self.holds_after:
            await self.held.wait()

    async def _workload(self, jobs: Sequence[InLine]) -> dict[str, Work]:
        return {job.job_id: self._work(job.subject_id) for job in jobs}

    def _work(self, number: str) -> Work:
        parts = self.parts[number]
        return Work(1.0, Parts(parts, 2.0, 3.0) if parts else None, 0.1)

    async def send(self, number: str, parts: int = 0, **options) -> None:
        self.parts[number] = parts
        await self.app.enqueue("pack", number, subject=("order", number), **options)

    async def send_all(self, seed: int, each: int = 2) -> list[str]:
        chance = random.Random(seed)
        for name, cap in LANES.items():
            await self.app.queues.lane("shop", name, **cap)
        tenants = [tenant for tenant in TENANTS for _ in range(each)]
        chance.shuffle(tenants)
        numbers = []
        for count, tenant in enumerate(tenants):
            options = {"tenant": tenant, "priority": chance.choice((0, 1, 1, 1, 2)), "cost": chance.choice((0.5, 1.0, 4.0))}
            if chance.random() < 0.2:
                await self.app.enqueue("sweep", f"sweep {count}", **options)
            numbers.append(f"{chance.randrange(1000):03}-{count}")
            await self.send(numbers[-1], chance.choice((0, 0, 1, 5)), **options)
        return numbers

    async def places(self, numbers: Sequence[str]) -> dict[str, int]:
        """Of those that wait, with what has no subject counted in."""
        found = {}
        for number in numbers:
            for told in (await self.app.subjects.prospects("order", [number])).values():
                if told.position is not None:
                    assert not told.is_more
                    found[number] = told.position
        return found


@pytest.fixture
async def shop(new_app):
    app = new_app(drain_seconds=20)
    shop = Shop(app)
    async with app:
        yield shop


async def _all_done(shop: Shop) -> None:
    async def done() -> bool:
        return not await shop.left()

    await eventually(done, 60)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_the_places_told_before_anybody_works_are_the_order_in_which_subjects_begin(shop, seed):
    numbers = await shop.send_all(seed)
    places = await shop.places(numbers)
    assert set(places) == set(numbers)
    await shop.work_one_by_one()
    assert {number: shop.begun.index(number) + 1 for number in numbers} == places


async def test_the_places_told_in_the_middle_of_the_work_are_the_order_of_what_follows(shop):
    numbers = await shop.send_all(4)
    shop.held, shop.holds_after = Gate(), 6
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(shop.work_one_by_one())
        await shop.held.until_reached()
        before = list(shop.begun)
        places = await shop.places(numbers)
        assert set(places) == set(numbers) - set(before)
        assert places
        shop.held.open()
    after = shop.begun[len(before) :]
    assert {number: after.index(number) + 1 for number in places} == places


async def test_all_subjects_that_are_asked_for_at_once_are_told_what_each_would_be_told(shop):
    numbers = await shop.send_all(5)
    together = await shop.app.subjects.prospects("order", [*numbers, "no such order"])
    jobs = {job.id: job.subject_id for job in await shop.app.list(operation="pack", limit=1000)}
    assert {jobs[job]: told.position for job, told in together.items()} == await shop.places(numbers)
    assert await shop.app.subjects.prospects("invoice", numbers) == {}
    assert await shop.app.subjects.prospects("order", []) == {}


async def test_several_jobs_on_one_subject_count_once_for_those_behind_them(shop):
    for number, subject in enumerate(("a", "a", "b", "a", "c")):
        shop.parts[subject] = 0
        await shop.app.enqueue("pack", subject, subject=("order", subject), tenant="north", key=str(number))
    told = await shop.app.subjects.prospects("order", ["a", "b", "c"])
    assert [told[job].position for job in sorted(told)] == [1, 1, 2, 2, 3]


async def test_children_have_no_place_of_their_own(shop):
    shop.held_part = Gate()
    await shop.send("first", 5)
    async with working(shop.app, "shop", concurrency=1):
        await shop.held_part.until_reached()  # one of its children is done, one runs, and three stand in line
        await shop.send("second")
        told = await shop.app.subjects.prospects("order", ["first", "second"])
        roots = {job.id: job.subject_id for job in await shop.app.list(operation="pack")}
        assert {roots[job]: one.position for job, one in told.items()} == {"first": None, "second": 1}
        shop.held_part.open()
        await _all_done(shop)


class TestFarAway:
    async def _told(self, shop: Shop, numbers: list[str]) -> list[tuple[int | None, bool]]:
        found = [await shop.app.subjects.prospects("order", [number]) for number in numbers]
        return [(one.position, one.is_more) for told in found for one in told.values()]

    async def test_over_a_thousand_is_told_as_such_and_what_is_near_is_exact(self, shop, monkeypatch):
        for module in (line, prospects):
            monkeypatch.setattr(module, "MOST_IN_LINE", 5)
        monkeypatch.setattr(line, "_FEW_PARKED", 2)
        await shop.app.queues.lane("shop", "mine", max_roots=2)
        mine = [str(number) for number in range(8)]
        for number in mine:
            await shop.send(number, tenant="mine")
        await shop.send("free", tenant="other")
        assert await self._told(shop, mine) == [
            (1, False), (3, False), (4, False), (5, False), (5, True), (5, True), (5, True), (5, True),
        ]  # fmt: skip
        assert await self._told(shop, ["free"]) == [(2, False)]

    async def test_behind_more_plain_jobs_than_are_read_nobody_counts_on(self, shop, monkeypatch):
        monkeypatch.setattr(line, "_MOST_READY", 10)
        await shop.send("near", tenant="a", cost=5.0)
        await shop.app.enqueue_many([{"operation": "sweep", "payload": str(n), "tenant": "b"} for n in range(30)])
        await shop.send("far", tenant="a", cost=20.0)
        assert await self._told(shop, ["near"]) == [(5, False)]
        [(position, is_more)] = await self._told(shop, ["far"])
        assert is_more
        assert position >= 10

    @on_sqlite
    async def test_parts_that_are_not_read_are_no_reason_not_to_count(self, shop, monkeypatch):
        monkeypatch.setattr(line, "_MOST_READY", 10)
        shop.held, shop.holds_after = Gate(), 2
        await shop.send("long", 40)
        async with working(shop.app, "shop", concurrency=1):
            await eventually(lambda: shop.app.list(operation="pack.part", state="succeeded"))
            await shop.send("urgent", tenant="other", priority=0)
            await shop.held.until_reached()
            await shop.send("last")
            assert await self._told(shop, ["last"]) == [(1, False)]
            shop.held.open()
            await _all_done(shop)
