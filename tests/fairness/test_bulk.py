"""Adding many jobs at once is one tenant's doing, however many connections it uses."""

import asyncio

from tests.fairness.line import Line, open_line
from towpath.store import journal
from towpath.store.contract import Claimed


async def test_eight_parallel_bulks_of_one_tenant_take_one_share(line: Line) -> None:
    await asyncio.gather(*(line.add("crowd", 25) for _ in range(8)), line.add("other", 50))
    assert abs((await line.turns(100)).count("other") - 50) <= 1


async def test_eight_parents_of_one_tenant_that_fan_out_at_once_take_one_share(line: Line) -> None:
    await line.add("crowd", 8)
    parents = [job for _ in range(8) if (job := await line.claim()) is not None]

    async def fan_out(parent: Claimed) -> None:
        lineage = {"operation": "child", "parent_id": parent.id, "root_id": parent.id, "child_group": "g"}
        children = [line.new("crowd", **lineage) for _ in range(25)]
        await line.store.run(
            lambda tx: journal.fan_out(
                tx, parent.id, parent.attempt, kind="spawn", name="g", children=children, awaited=False
            )
        )

    await asyncio.gather(*map(fan_out, parents))
    await line.add("other", 50)
    assert abs((await line.turns(100)).count("other") - 50) <= 1


async def test_without_taking_turns_eight_parallel_bulks_would_take_eight_shares(postgres_url: str) -> None:
    """The obvious way, as a seeded bug: eight transactions that are open together all stamp from the same tail."""
    async with open_line(postgres_url) as line:
        ready, go = asyncio.Barrier(9), asyncio.Event()

        async def unlocked() -> None:
            async with line.store.transaction() as tx:
                for _ in range(25):
                    await tx.insert_jobs([line.new("crowd")])
                await ready.wait()
                await go.wait()

        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            for _ in range(8):
                group.create_task(unlocked())
            await ready.wait()
            go.set()
        await line.add("other", 50)
        turns = await line.turns(90)
        assert turns.count("crowd") == 8 * turns.count("other")


async def test_what_a_bulk_schedules_for_later_costs_its_tenant_nothing_now(line: Line) -> None:
    await line.add("other", 50)
    tomorrow = [line.new("planner", delay=86_400.0) for _ in range(200)]
    await line.store.enqueue([*tomorrow, *(line.new("planner") for _ in range(10))])
    assert (await line.turns(20)).count("planner") == 10


async def test_what_a_bulk_finds_enqueued_already_costs_its_tenant_nothing(line: Line) -> None:
    await line.add("other", 50)
    await line.store.enqueue([line.new("again", key=str(number), priority=2) for number in range(100)])
    await line.store.enqueue([line.new("again", key=str(number)) for number in range(110)])
    assert (await line.turns(20)).count("again") == 10
