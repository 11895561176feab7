"""Cron schedules: once per time, however many processes watch; after a downtime once, for the latest time."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tests.engine.working import ended, eventually, on_sqlite, working
from towpath import ConfigurationError, SchemaInvalid, UnknownOperation
from towpath.engine.schedules import fire_due
from towpath.testing import FakeClock

EVERY_SECOND = "* * * * * *"
NEVER_SOON = "0 0 1 1 *"


async def make_due(app, name, when):
    """Moves a schedule's next time into the past, as a downtime does."""
    sqlite = app.services.store.dialect == "sqlite"
    async with app.transaction() as tx:
        if sqlite:
            await tx.execute("UPDATE towpath_schedule SET next_fire = ? WHERE name = ?", when.timestamp(), name)
        else:
            await tx.execute("UPDATE towpath.schedule SET next_fire = $1 WHERE name = $2", when, name)


def planning(app, cron=NEVER_SOON, **options):
    @app.operation("report")
    async def report(ctx, payload):
        return payload

    app.schedule("nightly", cron, "report", {"kind": "daily"}, **options)
    return app


async def test_it_fires_once_however_many_processes_watch(new_app):
    apps = [planning(new_app(), EVERY_SECOND, tenant="alice", priority=2) for _ in range(3)]
    async with apps[0], apps[1], apps[2]:
        async with working(apps[0]), working(apps[1]), working(apps[2]):
            await eventually(lambda: _at_least(apps[0], 2))
        jobs = await apps[0].list()
        [plan] = await apps[0].schedules.list()
        keys = [job.key for job in jobs]
        assert len(set(keys)) == len(keys)
        moments = sorted(key.removeprefix("schedule nightly ") for key in keys)
        assert plan.last_fire.isoformat() == moments[-1]
        assert {(job.tenant, job.priority, job.queue) for job in jobs} == {("alice", 2, "default")}
        assert jobs[-1].payload == {"kind": "daily"}


async def _at_least(app, number):
    return len(await app.list(state="succeeded")) >= number


async def test_three_processes_firing_at_the_same_moment_fire_once(new_app):
    apps = [planning(new_app()) for _ in range(3)]
    async with apps[0], apps[1], apps[2]:
        await make_due(apps[0], "nightly", datetime.now(UTC) - timedelta(days=3))
        fired = await asyncio.gather(*(fire_due(app.services) for app in apps))
        assert sum(fired) == 1
        assert len(await apps[0].list()) == 1


async def test_after_a_downtime_it_fires_once_for_the_latest_time(new_app):
    app = planning(new_app(), "* * * * *")
    async with app:
        await make_due(app, "nightly", datetime.now(UTC) - timedelta(days=3650))
        before = datetime.now(UTC)
        async with asyncio.timeout(10):  # ten years are not walked through minute by minute
            assert await fire_due(app.services) == 1
            assert await fire_due(app.services) == 0
        [job], [plan] = await app.list(), await app.schedules.list()
        assert plan.last_job_id == job.id
        assert before - timedelta(minutes=1) <= plan.last_fire <= datetime.now(UTC)
        assert datetime.now(UTC) - timedelta(seconds=1) < plan.next_fire <= plan.last_fire + timedelta(minutes=2)


async def test_it_does_not_fire_before_its_time(new_app):
    app = planning(new_app())
    async with app:
        assert await fire_due(app.services) == 0
        assert await app.list() == []
        [plan] = await app.schedules.list()
        assert (plan.next_fire.month, plan.next_fire.day) == (1, 1)


async def test_an_unchanged_schedule_keeps_its_next_time_over_a_restart_and_a_changed_one_does_not(new_app):
    missed = datetime.now(UTC) - timedelta(days=400)
    async with planning(new_app()) as first:
        await make_due(first, "nightly", missed)
    async with planning(new_app(), tenant="bob") as again:
        [plan] = await again.schedules.list()
        assert abs(plan.next_fire - missed) < timedelta(milliseconds=1)
        assert plan.tenant == "bob"
    async with planning(new_app(), "30 3 * * *") as changed:
        [plan] = await changed.schedules.list()
        assert plan.cron == "30 3 * * *"
        assert plan.next_fire > datetime.now(UTC)
        assert (plan.next_fire.hour, plan.next_fire.minute) == (3, 30)
    async with planning(new_app(), "30 3 * * *", timezone="Asia/Tokyo") as moved:
        [plan] = await moved.schedules.list()
        assert (plan.next_fire.hour, plan.next_fire.minute) == (18, 30)


@on_sqlite
async def test_a_time_of_day_follows_the_clocks_of_its_time_zone(new_app):
    """Three in the morning in Berlin is 2:00 UTC in winter and 1:00 UTC in summer."""
    clock = FakeClock(datetime(2026, 3, 27, 12, tzinfo=UTC))
    app = planning(new_app(clock=clock), "0 3 * * *", timezone="Europe/Berlin")
    fired = []
    async with app:
        for _ in range(3):
            [plan] = await app.schedules.list()
            clock.advance_to(plan.next_fire)
            assert await fire_due(app.services) == 1
            fired.append(plan.next_fire.isoformat())
    assert fired == ["2026-03-28T02:00:00+00:00", "2026-03-29T01:00:00+00:00", "2026-03-30T01:00:00+00:00"]


async def test_a_paused_schedule_fires_once_when_it_is_resumed(new_app):
    app = planning(new_app())
    async with app:
        await app.schedules.pause("nightly")
        await make_due(app, "nightly", datetime.now(UTC) - timedelta(days=800))
        assert await fire_due(app.services) == 0
        await app.schedules.resume("nightly")
        async with working(app):
            [job] = await eventually(app.list)
            await ended(app, job)
        assert len(await app.list()) == 1


@pytest.mark.parametrize(
    ("cron", "timezone", "words"),
    [
        ("every day", "UTC", "every day"),
        ("61 * * * *", "UTC", "five fields"),
        ("0 0 31 2 *", "UTC", "31 2"),
        ("0 3 * * *", "Mars/Olympus", "Mars/Olympus"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused_when_it_is_declared(new_app, cron, timezone, words):
    with pytest.raises(ConfigurationError, match="'nightly'") as refused:
        planning(new_app(), cron, timezone=timezone)
    assert words in str(refused.value)


async def test_a_schedule_of_an_unknown_operation_or_a_wrong_payload_is_refused_when_the_app_opens(new_app):
    unknown, wrong = new_app(), new_app()
    unknown.schedule("nightly", NEVER_SOON, "nothing")

    @wrong.operation("typed")
    async def typed(ctx, payload: dict[str, int]): ...

    wrong.schedule("nightly", NEVER_SOON, "typed", {"n": "many"})
    with pytest.raises(UnknownOperation, match="nothing"):
        await unknown.open()
    with pytest.raises(SchemaInvalid, match="typed"):
        await wrong.open()
