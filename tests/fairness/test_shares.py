"""Who gets how many turns, counted on the real databases."""

from tests.fairness.line import Line
from towpath.core import transitions
from towpath.core.outcomes import Failure
from towpath.engine.tending import janitor
from towpath.store import ledger

BROKEN = Failure("transient", "Transient", "it broke")


async def test_a_newcomer_with_ten_jobs_is_served_within_twenty_claims_of_a_hundred_thousand(line: Line) -> None:
    for _ in range(10):
        await line.add("big", 10_000)
    await line.turns(30)
    await line.add("small", 10)
    turns = await line.turns(20)
    assert turns.count("small") == 10


async def test_a_client_that_sends_one_job_at_a_time_gets_half_beside_a_backlog(line: Line) -> None:
    await line.add("backlog", 200)
    await line.turns(5)
    waiting, turns = False, []
    for _ in range(100):
        if not waiting:
            await line.add("client")
            waiting = True
        [tenant] = await line.turns(1)
        turns.append(tenant)
        waiting = waiting and tenant != "client"
    assert turns.count("client") == 50


async def test_between_two_writes_of_the_floor_a_busy_client_costs_the_backlog_no_more_than_that_while(line: Line) -> None:
    """The floor is written ten times a second at most. Inside such a while a client that comes back at once may go
    first again and again; the next write ends it, and the backlog has its turn."""
    line.seconds_per_claim = 0.02
    await line.add("backlog", 100)
    await line.turns(10)
    turns = []
    for _ in range(100):
        await line.add("client")
        turns += await line.turns(1)
    longest = max(len(run) for run in "".join(name[0] for name in turns).split("b"))
    assert longest <= 10, "more than the claims of two tenths of a second in a row"


async def test_weights_of_three_to_one_give_three_turns_to_one(line: Line) -> None:
    await line.lane("heavy", weight=3.0)
    await line.lane("light", weight=1.0)
    await line.add("heavy", 90)
    await line.add("light", 90)
    turns = await line.turns(80)
    assert abs(turns.count("heavy") - 60) <= 1


async def test_costs_of_sixty_to_one_give_one_turn_to_sixty(line: Line) -> None:
    await line.add("hours", 5, cost=60.0)
    await line.add("minutes", 150, cost=1.0)
    turns = await line.turns(122)
    assert turns.count("hours") == 2
    assert turns.count("minutes") == 120


async def test_a_tenant_that_cancelled_its_jobs_is_not_punished(line: Line) -> None:
    await line.add("backlog", 100)
    await line.cancel(*await line.add("fickle", 60))
    await line.turns(5)
    await line.add("fickle", 10)
    assert (await line.turns(20)).count("fickle") == 10


async def test_a_tenant_that_cancelled_the_end_of_its_jobs_goes_on_behind_the_rest(line: Line) -> None:
    await line.add("backlog", 100)
    first, *others = await line.add("fickle", 60)
    await line.cancel(*others)
    await line.add("fickle", 9)
    assert (await line.turns(20)).count("fickle") == 10
    assert first not in others


async def test_work_handed_back_keeps_its_place(line: Line) -> None:
    await line.add("a", 20)
    await line.add("b", 20)
    await line.turns(10)
    begun = await line.claim()
    assert begun is not None
    await line.store.settle([transitions.release(begun.id, begun.attempt)])
    again = await line.claim()
    assert again is not None
    assert (again.id, again.attempt) == (begun.id, begun.attempt + 1)


async def test_work_handed_back_to_a_plateau_that_claims_have_passed_is_found_by_the_next_sweep(line: Line) -> None:
    """With very many lanes at one pass, cursors move within the pass."""
    for number in range(500):
        await line.add(f"lane {number}")
    begun = await line.claim()
    assert begun is not None
    for _ in range(4):
        await line.claims.claim(100, "worker", 3600.0)
        await line.claim()
    await line.store.settle([transitions.release(begun.id, begun.attempt)])
    line.seconds_per_claim = 1.0
    assert begun.id in [job.id for job in (await line.claim(), await line.claim()) if job is not None]


async def test_a_retry_keeps_its_place_when_its_time_comes(line: Line) -> None:
    await line.add("a", 20)
    begun = await line.claim()
    assert begun is not None
    await line.store.settle([transitions.retry(begun.id, begun.attempt, BROKEN, delay=0.001)])
    await line.turns(5)
    await line.add("b", 5)
    await _until_due(line)
    again = await line.claim()
    assert again is not None
    assert again.id == begun.id


async def _until_due(line: Line) -> None:
    for _ in range(1000):
        if await line.store.run(lambda tx: ledger.promote_due(tx, 10)):
            return
    raise AssertionError("the retry never fell due")


async def test_a_rescued_job_keeps_its_place(line: Line) -> None:
    await line.add("a", 10)
    [begun] = await line.claims.claim(1, "worker that dies", -1.0)
    await line.turns(3)
    await line.add("b", 5)
    assert await janitor.rescue(line.app.services) == 1
    again = await line.claim()
    assert again is not None
    assert again.id == begun.id


async def test_a_new_weight_counts_for_new_jobs_only(line: Line) -> None:
    await line.add("a", 10)
    await line.add("b", 10)
    await line.lane("a", weight=10.0)
    turns = await line.turns(20)
    assert abs(turns[:10].count("a") - 5) <= 1
    await line.add("a", 20)
    await line.add("b", 20)
    assert (await line.turns(11)).count("a") >= 9
