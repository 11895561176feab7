"""Caps hold a tenant back without holding anybody else up, and without ever forgetting it."""

from collections import Counter

from tests.fairness.line import Line
from towpath.core import transitions
from towpath.core.outcomes import Failure
from towpath.store import journal, ledger
from towpath.store.contract import Claimed

BROKEN = Failure("fatal", "Fatal", "it broke")


async def test_a_capped_tenant_delays_nobody_and_never_sticks(line: Line) -> None:
    await line.lane("capped", max_slots=2)
    await line.add("capped", 30)
    await line.add("free", 30)
    running: list[Claimed] = []
    served: list[str] = []
    while job := await line.claim():
        served.append(job.tenant)
        running.append(job)
        assert Counter(found.tenant for found in running)["capped"] <= 2
        if len(running) == 6:  # the worker is full: the oldest one ends
            await line.settle(running.pop(0))
    while running:
        await line.settle(running.pop(0))
        while job := await line.claim():
            served.append(job.tenant)
            running.append(job)
    assert Counter(served) == {"capped": 30, "free": 30}
    assert served[:40].count("free") >= 20, "the free tenant had to wait for the capped one"


async def test_a_capped_tenant_that_holds_all_its_slots_leaves_every_turn_to_the_others(line: Line) -> None:
    await line.lane("capped", max_slots=1)
    await line.add("capped", 500)
    assert await line.turns(1) == ["capped"]
    await line.add("free", 20)
    assert await line.turns(20) == ["free"] * 20


async def test_the_jobs_a_capped_tenant_requeues_take_turns_like_new_ones(line: Line) -> None:
    """Its gate lets one in after the other; each goes to the end of its lane, not to the head of the queue."""
    await line.lane("capped", max_slots=1)
    ids = await line.add("capped", 12)
    for _ in ids:
        job = await line.claim()
        assert job is not None
        await line.store.settle([transitions.fail(job.id, job.attempt, BROKEN)])
    await line.add("free", 20)
    for job_id in ids:
        asked = [transitions.requeue(job_id)]
        assert await line.store.run(lambda tx, asked=asked: ledger.apply(tx, asked)) == [None]
    turns = []
    for _ in range(20):
        job = await line.claim()
        assert job is not None
        turns.append(job.tenant)
        await line.settle(job)
    assert turns.count("free") >= 9, "what the capped tenant requeued goes first every time"


class Uploads:
    """Roots that fan out into three children each, worked on in eight slots; remembers when what began and ended."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._steps = 0
        self.children_began: dict[str, int] = {}
        self.ended: dict[str, int] = {}

    async def work(self) -> None:
        running: list[Claimed] = []
        while True:
            job = await self._line.claim() if len(running) < 8 else None
            if job is not None:
                self._begin(job)
                running.append(job)
            elif running:
                await self._end(running.pop(0))
            else:
                return

    def _begin(self, job: Claimed) -> None:
        self._steps += 1
        if job.parent_id is not None:
            self.children_began.setdefault(job.parent_id, self._steps)

    async def _end(self, job: Claimed) -> None:
        self._steps += 1
        if job.parent_id is None:
            await self._fan_out(job)
            return
        await self._line.settle(job)
        [parent] = await self._line.store.read(lambda tx: tx.jobs("jobs_by_id", ids=[job.parent_id]))
        if parent.ended:
            self.ended[parent.id] = self._steps

    async def _fan_out(self, job: Claimed) -> None:
        lineage = {"operation": "child", "parent_id": job.id, "root_id": job.id, "child_group": "g"}
        children = [self._line.new(job.tenant, **lineage) for _ in range(3)]
        await self._line.store.run(
            lambda tx: journal.fan_out(tx, job.id, job.attempt, kind="spawn", name="g", children=children, awaited=False)
        )
        await self._line.store.settle([transitions.close_with_children(job.id, job.attempt, None, 3600.0)])


async def test_with_two_open_roots_the_first_of_a_hundred_ends_before_the_fourths_children_start(line: Line) -> None:
    await line.lane("uploads", max_roots=2)
    roots = await line.add("uploads", 100)
    uploads = Uploads(line)
    await uploads.work()
    assert uploads.ended.keys() == set(roots)
    for first, fourth in zip(roots, roots[3:], strict=False):
        assert uploads.ended[first] < uploads.children_began[fourth]


async def test_without_the_cap_later_uploads_are_begun_before_the_first_ends(line: Line) -> None:
    """What the cap is for: the same uploads, and the other order."""
    roots = await line.add("uploads", 20)
    uploads = Uploads(line)
    await uploads.work()
    assert uploads.ended.keys() == set(roots)
    assert uploads.ended[roots[0]] > uploads.children_began[roots[3]]
