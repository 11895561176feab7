"""How many tasks of a tenant may be open is adjusted to the workers there are, unless somebody has said so by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.engine.working import on_sqlite
from towpath import App, Settings, fleet
from towpath.fleet import reporting
from towpath.fleet.messages import WorkerReport
from towpath.fleet.names import CARE_LANE, QUEUE
from towpath.fleet.recovering import Recovering, ensure_lane

LEAST = 4


@pytest.fixture
async def app(database_url: str, settings: Settings) -> AsyncIterator[App]:
    app = App(database_url, settings=settings)
    fleet.attach(app)
    async with app:
        yield app


async def lane(app: App, name: str = "north") -> tuple[float, int | None, int | None]:
    """Its weight, its cap on running jobs and its cap on open tasks."""
    [found] = [one for one in await app.queues.lanes(QUEUE) if one.lane == name]
    return found.weight, found.max_slots, found.max_roots


async def adjust(app: App, slots: int) -> None:
    """Another worker comes, and the loop looks."""
    await reporting.greet(app, WorkerReport(worker_id=f"with-{slots}", slots=slots))
    await Recovering(app).make_room()


async def test_room_grows_with_the_workers_but_a_cap_that_was_set_by_hand_stays(app: App) -> None:
    await ensure_lane(app, QUEUE, "north")
    assert await lane(app) == (1.0, None, LEAST)
    await adjust(app, 10)
    assert await lane(app) == (1.0, None, 20)
    await app.queues.lane(QUEUE, "north", max_roots=3)
    await adjust(app, 5)
    await ensure_lane(app, QUEUE, "north")
    assert await lane(app) == (1.0, None, 3)
    await app.queues.lane(QUEUE, "north")  # given back
    await adjust(app, 1)
    assert await lane(app) == (1.0, None, 32)


@on_sqlite
async def test_what_was_set_before_the_first_task_stays(app: App) -> None:
    await app.queues.lane(QUEUE, "capped", max_roots=1)
    await app.queues.lane(QUEUE, "slotted", max_slots=2)
    await app.queues.lane(QUEUE, "heavy", weight=3.0)
    await app.queues.lane(QUEUE, CARE_LANE, weight=2.0)
    for one in ("capped", "slotted", "heavy"):
        await ensure_lane(app, QUEUE, one)
    assert await lane(app, "heavy") == (3.0, None, LEAST)
    await adjust(app, 10)
    assert await lane(app, "capped") == (1.0, None, 1)
    assert await lane(app, "slotted") == (1.0, 2, None)
    assert await lane(app, "heavy") == (3.0, None, 20)
    assert await lane(app, CARE_LANE) == (2.0, None, None)
