"""Minutes become hours after two days: nothing is lost or counted twice, whoever does it and however late."""

import asyncio
from collections import Counter
from datetime import timedelta

from tests.contracts.stores import opened
from towpath.core.count_deltas import FLOWS
from towpath.core.usage import SUMS
from towpath.engine.tending.folding import KEEP_HOURS, fold
from towpath.engine.tending.rollups import add, add_histograms, hour_of, roll_up

HOUR = timedelta(hours=1)


async def now(hands):
    async def unit(tx):
        return tx.now

    return await hands.store.read(unit)


async def lived(hands, ages_in_hours: list[int]) -> None:
    """Three minutes of work in each of these hours."""
    today = hour_of(await now(hands))

    async def unit(tx):
        for age in ages_in_hours:
            for minute in (0, 7, 59):
                at = today - age * HOUR + timedelta(minutes=minute)
                await add(tx, "add_rollups", ("queue", "operation", "minute"), {("q", "op", at): dict.fromkeys(FLOWS, 1)})
                quarter = at.replace(minute=minute // 15 * 15)
                await add_histograms(tx, Counter({("q", "op", quarter, "run", 5): 2}))
                await tx.execute("add_occupancy", minute=at, samples=1, workers=1, concurrency=4, running=2)
                used = {(quarter, "t", "q", "op", "m"): dict.fromkeys(SUMS, 1)}
                await add(tx, "add_usages", ("quarter", "tenant", "queue", "operation", "model"), used)

    await hands.store.run(unit)


async def sums(hands) -> dict[str, int]:
    found = {}
    for table, column in (("rollup", "failed"), ("histogram", "jobs"), ("occupancy", "running"), ("usage", "calls")):
        [row] = await hands.sql(f"SELECT sum({column}) AS total FROM {hands.table(table)}")
        found[table] = int(row["total"] or 0)
    return found


async def rows(hands) -> dict[str, int]:
    return {table: await hands.count(table) for table in ("rollup", "histogram", "occupancy", "usage")}


async def test_hours_older_than_two_days_have_one_row_and_the_same_sums(hands):
    await lived(hands, [1, 60, 61, 200])
    before = await sums(hands)
    assert await fold(hands.store) > 0
    assert await sums(hands) == before
    # Three minutes, or two quarters of an hour, for the recent hour; one row for each of the others.
    assert await rows(hands) == {"rollup": 6, "histogram": 5, "occupancy": 6, "usage": 5}


async def test_once_folded_there_is_nothing_to_do_until_another_hour_is_old_enough(hands):
    await lived(hands, [60])
    await fold(hands.store)
    assert await fold(hands.store) == 0


async def test_what_is_counted_days_later_goes_to_its_hour(hands):
    await lived(hands, [60])
    await fold(hands.store)
    await hands.enqueue_many(3)
    old = "at - 216000" if hands.store.dialect == "sqlite" else "at - interval '60 hours'"
    await hands.sql(f"UPDATE {hands.table('count_delta')} SET at = {old} RETURNING 1 AS done")
    await roll_up(hands.store)
    found = await hands.sql(f"SELECT sum(created) AS created, count(*) AS n FROM {hands.table('rollup')}")
    assert int(found[0]["created"]) == 6
    assert found[0]["n"] <= 2  # the hour that was folded, and perhaps the one before it: never a minute of its own
    await fold(hands.store)
    assert (await sums(hands))["rollup"] == 3


async def test_several_may_fold_at_once(database_url, hands):
    await lived(hands, [*range(50, 90)])
    before = await sums(hands)
    async with opened(database_url) as other:
        await asyncio.gather(*(fold(who.store) for who in (hands, other) for _ in range(3)))
        while await fold(hands.store):
            pass
    assert await sums(hands) == before
    assert (await rows(hands))["histogram"] <= 40 + 2 * 2  # of hours that are not quite old enough, their minutes


async def test_hours_are_forgotten_in_the_end(hands):
    ancient = int(KEEP_HOURS / HOUR) + 5
    await lived(hands, [ancient, 60])
    await fold(hands.store)
    assert await sums(hands) == {"rollup": 3, "histogram": 6, "occupancy": 6, "usage": 3}
