"""What others do at once, urgently or later must not cost a bystander its turn."""

from datetime import UTC, datetime, timedelta

from tests.fairness.line import Line
from towpath.engine.tending import janitor

SOON = timedelta(milliseconds=200)


async def test_a_burst_of_jobs_that_fall_due_together_harms_no_bystander(line: Line) -> None:
    due = datetime.now(UTC) + SOON
    await line.add("burst", 600, run_at=due)
    await line.add("other", 50)
    await line.turns(10)
    while not await janitor.promote_due(line.app.services):
        assert datetime.now(UTC) < due + timedelta(seconds=20), "the burst never fell due"
    await line.add("bystander", 10)
    turns = await line.turns(30)
    assert turns.count("bystander") == 10
    assert turns.count("other") == 10


async def test_jobs_that_fell_due_long_ago_are_ranked_behind_each_other(line: Line) -> None:
    """A day of downtime makes a day of scheduled jobs due at once; they still take turns with everybody else."""
    await line.add("late", 300, delay=0.01)
    await line.add("bystander", 20)
    while not await janitor.promote_due(line.app.services):
        pass
    assert (await line.turns(40)).count("bystander") == 20


async def test_an_urgent_job_harms_no_bystander_in_the_next_band(line: Line) -> None:
    await line.add("backlog", 2000)
    await line.turns(10)
    await line.add("backlog", 1, priority=0)
    assert await line.turns(1) == ["backlog"]
    await line.add("bystander", 10)
    assert (await line.turns(20)).count("bystander") == 10


async def test_a_lower_band_waits_until_the_bands_above_are_empty(line: Line) -> None:
    await line.add("whenever", 5, priority=3)
    await line.add("normal", 5)
    await line.add("urgent", 5, priority=0)
    assert await line.turns(15) == ["urgent"] * 5 + ["normal"] * 5 + ["whenever"] * 5


async def test_many_urgent_tenants_share_their_band_too(line: Line) -> None:
    await line.add("loud", 100, priority=0)
    await line.turns(5)
    await line.add("quiet", 5, priority=0)
    assert (await line.turns(10)).count("quiet") == 5
