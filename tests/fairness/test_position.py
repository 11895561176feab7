"""`position` is a promise that can be checked: how many claims come first if nothing else arrives."""

import random

from tests.fairness.line import Line
from towpath.engine.asking.explain import MOST_COUNTED, explain, position
from towpath.engine.asking.listing import list_jobs


async def test_the_position_of_every_job_is_the_number_of_claims_before_it(line: Line) -> None:
    dice = random.Random(20)
    await line.lane("t1", weight=2.5)
    for _ in range(12):
        tenant, band, cost = f"t{dice.randrange(4)}", dice.choice([0, 1, 1, 1, 2]), dice.choice([0.5, 1.0, 7.0])
        await line.add(tenant, dice.randrange(1, 6), priority=band, cost=cost)
        if dice.random() < 0.3:
            await line.turns(2)
    jobs = await list_jobs(line.store, state="queued", queue=line.queue, limit=1000)
    promised = {job.id: await line.store.read(lambda tx, job=job: position(tx, job)) for job in jobs}
    order = [claimed.id for claimed in await line.drain()]
    assert len(order) == len(jobs) > 20
    assert promised == {job_id: (number, False) for number, job_id in enumerate(order)}


async def test_beyond_a_thousand_the_position_says_so(line: Line) -> None:
    ids = await line.add("a", MOST_COUNTED + 2)
    for index, expected in ((0, (0, False)), (MOST_COUNTED, (MOST_COUNTED, False)), (-1, (MOST_COUNTED, True))):
        told = await explain(line.store, ids[index])
        assert (told.position, told.position_is_more) == expected
