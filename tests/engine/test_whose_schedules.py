"""Schedules live with the code that declares them; others are made and removed by people."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from tests.engine.test_schedules import NEVER_SOON, make_due
from tests.engine.working import eventually, on_sqlite
from towpath import ConfigurationError, NameTaken, ScheduleNotFound, SchemaInvalid, UnknownOperation
from towpath.engine.asking.checkup import checkup
from towpath.engine.schedules import fire_due, seconds_until_next
from towpath.engine.tending import declaring
from towpath.testing import FakeClock

PAST = datetime.now(UTC) - timedelta(days=400)


def declaring_app(app, *names):
    @app.operation("report")
    async def report(ctx, payload: dict[str, int] | None = None): ...

    for name in names:
        app.schedule(name, NEVER_SOON, "report")
    return app


async def plans_of(app):
    return {plan.name: (plan.origin, plan.retired) for plan in await app.schedules.list()}


@asynccontextmanager
async def killed_in_the_middle(app):
    """Opened, and gone without a word; what it holds is closed when the test ends."""
    await app.open()
    closing, app._declarer.close = app._declarer.close, _nothing
    yield
    await app.close()
    app._declarer.close = closing


async def _nothing():
    pass


async def test_a_schedule_that_the_code_no_longer_declares_fires_no_more(new_app):
    async with declaring_app(new_app(), "kept", "dropped"):
        pass
    async with declaring_app(new_app(), "kept") as later:
        for name in ("kept", "dropped"):
            await make_due(later, name, PAST)
        assert await plans_of(later) == {"kept": ("code", False), "dropped": ("code", True)}
        assert await fire_due(later.services) == 1
        assert [job.key.split()[1] for job in await later.list()] == ["kept"]
        assert await seconds_until_next(later.services) == 60.0
        [told] = [one for one in await checkup(later.services.store) if "dropped" in one.message]
        assert (told.level, told.topic) == ("note", "schedules")


async def test_what_comes_back_into_the_code_goes_on_as_it_was(new_app):
    async with declaring_app(new_app(), "nightly") as first:
        await first.schedules.pause("nightly")
        await make_due(first, "nightly", PAST)
    async with declaring_app(new_app(), "other"):
        pass
    async with declaring_app(new_app(), "nightly") as again:
        [plan] = [plan for plan in await again.schedules.list() if plan.name == "nightly"]
        assert (plan.paused, plan.retired) == (True, False)
        await again.schedules.resume("nightly")
        assert await fire_due(again.services) == 1


async def test_two_apps_on_one_database_keep_each_others_schedules(new_app):
    async with declaring_app(new_app(), "ours") as ours, declaring_app(new_app(), "theirs"):
        await make_due(ours, "theirs", PAST)
        await declaring.renew(ours.services)
        assert await plans_of(ours) == {"ours": ("code", False), "theirs": ("code", False)}
        assert await fire_due(ours.services) == 1


async def test_while_a_release_is_rolled_out_the_old_one_keeps_what_it_declares(new_app):
    async with declaring_app(new_app(), "dropped") as old:
        async with declaring_app(new_app(), "added") as new:
            assert await plans_of(new) == {"added": ("code", False), "dropped": ("code", False)}
        assert await plans_of(old) == {"added": ("code", True), "dropped": ("code", False)}
        async with new_app() as bystander:  # who has to believe what is written
            assert await plans_of(bystander) == {"added": ("code", True), "dropped": ("code", False)}


@on_sqlite
async def test_a_process_that_was_killed_is_found_out_and_one_that_lives_says_so_again(new_app):
    clock = FakeClock()
    killed, alive, other = (declaring_app(new_app(clock=clock), name) for name in ("killed", "alive", "other"))
    async with killed_in_the_middle(killed), alive, other:
        for _ in range(2):
            clock.advance(timedelta(minutes=10).total_seconds())
            await declaring.renew(alive.services)
        assert await plans_of(other) == {"alive": ("code", False), "killed": ("code", True), "other": ("code", False)}


@on_sqlite
async def test_a_process_says_by_itself_that_it_still_declares_its_schedules(new_app, monkeypatch):
    monkeypatch.setattr(declaring, "_RENEW_EVERY", 0.01)
    clock = FakeClock()
    async with declaring_app(new_app(clock=clock), "nightly"), new_app(clock=clock) as bystander:
        clock.advance(timedelta(days=1).total_seconds())
        await eventually(lambda: _is_declared(bystander, "nightly"))


async def _is_declared(app, name):
    return await plans_of(app) == {name: ("code", False)}


@on_sqlite
async def test_a_retired_schedule_is_forgotten_after_a_week(new_app):
    clock = FakeClock()
    async with declaring_app(new_app(clock=clock), "dropped"):
        pass
    async with declaring_app(new_app(clock=clock), "kept") as app:
        await app.schedules.add("by-hand", NEVER_SOON, "report")
        clock.advance(timedelta(days=6).total_seconds())
        await declaring.renew(app.services)
        assert set(await plans_of(app)) == {"kept", "dropped", "by-hand"}
        clock.advance(timedelta(days=2).total_seconds())
        await declaring.renew(app.services)
        assert set(await plans_of(app)) == {"kept", "by-hand"}


async def test_people_make_and_remove_schedules_that_no_code_knows_of(new_app):
    async with declaring_app(new_app(), "nightly") as app:
        made = await app.schedules.add("by-hand", "0 3 * * *", "report", {"n": 1}, tenant="alice", timezone="Asia/Tokyo")
        assert (made.origin, made.retired, made.tenant, made.next_fire.hour) == ("people", False, "alice", 18)
        await make_due(app, "by-hand", PAST)
    async with declaring_app(new_app()) as later:
        assert await plans_of(later) == {"by-hand": ("people", False), "nightly": ("code", True)}
        assert await fire_due(later.services) == 1
        [job] = await later.list()
        assert (job.operation, job.payload, job.tenant, job.queue) == ("report", {"n": 1}, "alice", "default")
        assert (await later.schedules.remove("by-hand")).name == "by-hand"
        assert (await later.schedules.remove("nightly")).retired
        assert await later.schedules.list() == []
        assert [kept.id for kept in await later.list()] == [job.id]


async def test_a_schedule_needs_a_free_name_a_time_and_something_to_do(new_app):
    async with declaring_app(new_app(), "nightly") as app:
        await app.schedules.add("by-hand", NEVER_SOON, "report")
        for taken in ("nightly", "by-hand"):
            with pytest.raises(NameTaken, match=taken):
                await app.schedules.add(taken, NEVER_SOON, "report")
        with pytest.raises(ConfigurationError, match="five fields"):
            await app.schedules.add("new", "often", "report")
        with pytest.raises(UnknownOperation, match="unheard"):
            await app.schedules.add("new", NEVER_SOON, "unheard")
        with pytest.raises(SchemaInvalid):
            await app.schedules.add("new", NEVER_SOON, "report", {"n": "many"})
        made = await app.schedules.add("new", NEVER_SOON, "unheard", queue="elsewhere")
        assert (made.operation, made.origin) == ("unheard", "people")


async def test_what_running_code_declares_is_not_removed_and_unknown_names_are_told(new_app):
    async with declaring_app(new_app(), "nightly") as app:
        with pytest.raises(NameTaken, match=r"take app.schedule\('nightly', …\) out of the code"):
            await app.schedules.remove("nightly")
        for verb in (app.schedules.remove, app.schedules.pause, app.schedules.fire, app.schedules.get):
            with pytest.raises(ScheduleNotFound) as refused:
                await verb("nigthly")
            assert refused.value.remedy == "did you mean 'nightly'?"


async def test_code_that_declares_what_people_have_made_takes_it_over(new_app, caplog):
    async with declaring_app(new_app()) as app:
        await app.schedules.add("nightly", NEVER_SOON, "report")
    async with declaring_app(new_app(), "nightly") as later:
        assert await plans_of(later) == {"nightly": ("code", False)}
    assert "was made by people" in caplog.text


@on_sqlite
async def test_a_process_that_was_frozen_for_longer_than_a_week_has_its_schedules_again(new_app):
    clock = FakeClock()
    frozen, other = declaring_app(new_app(clock=clock), "nightly"), declaring_app(new_app(clock=clock), "other")
    async with frozen, other:
        clock.advance(timedelta(days=8).total_seconds())
        await other._declarer._again()
        assert await plans_of(other) == {"other": ("code", False)}
        await frozen._declarer._again()
        assert await plans_of(other) == {"nightly": ("code", False), "other": ("code", False)}
        await make_due(other, "nightly", PAST)
        assert await fire_due(other.services) == 1
