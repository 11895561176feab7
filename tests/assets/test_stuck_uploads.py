"""An upload that has all its bytes ends, whatever becomes of the job that hands it over; and it is handed over once."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.assets import media
from tests.assets.test_finishing import finishers, shown
from tests.assets.test_receiving import left
from tests.assets.tus import VERSION, Notes, begun, send
from tests.engine.working import in_state, working
from tests.server.api.site import Site, problem
from towpath import App, Context, Job, LeaseLost, Transaction, assets
from towpath.assets import Arrival
from towpath.assets.tidying import tidy
from towpath.assets.uploads import finishing
from towpath.core import transitions
from towpath.core.ids import uuid7 as new_worker_id
from towpath.core.outcomes import Failure
from towpath.store.contract import Claim
from towpath.testing import drain

DATA = media.sound("wav", 2.0)
pytestmark = pytest.mark.usefixtures("nobody_works")


async def sent(site: Site, **options: str) -> tuple[str, Job]:
    """A whole file, and the job that nobody works on."""
    where = await begun(site.ann, len(DATA), **options)
    assert (await send(site.ann, where, 0, DATA)).status_code == 204
    [job] = await finishers(site.app)
    return where, job


async def taken_up(app: App) -> int:
    return (await assets.usage(app, "north")).bytes


async def test_an_upload_whose_job_is_gone_gets_another_one(site: Site, notes: Notes):
    where, job = await sent(site)
    await site.app.remove([job.id])
    assert (await tidy(site.app))["resumed"] == 1
    assert (await tidy(site.app))["resumed"] == 0
    await drain(site.app, ["uploads"])
    assert (await shown(site, where))["state"] == "done"
    assert len(notes.given) == 1


async def test_an_upload_whose_job_a_person_has_cancelled_fails_and_says_so(site: Site, notes: Notes):
    where, job = await sent(site)
    assert await taken_up(site.app) == len(DATA)
    await site.app.cancel(job.id)
    assert (await tidy(site.app))["resumed"] == 1
    found = await shown(site, where)
    assert (found["state"], found["result"]) == ("failed", None)
    assert "cancelled" in found["error"]["detail"]
    assert (await taken_up(site.app), await left(site.app), notes.given) == (0, [], [])
    assert len(await finishers(site.app)) == 1
    assert (await site.ann.delete(where, headers=VERSION)).status_code == 204


async def test_one_that_waits_in_the_inbox_is_kept_for_whoever_requeues_it(site: Site, notes: Notes):
    where, job = await sent(site)
    await fail(site.app)
    assert (await tidy(site.app))["resumed"] == 0
    stuck = await shown(site, where)
    assert (stuck["state"], stuck["result"], stuck["error"]["status"]) == ("stuck", None, 500)
    assert "the product is away" in stuck["error"]["detail"]
    assert job.id in stuck["error"]["remedy"]
    await site.app.requeue(job.id)
    going_on = await shown(site, where)
    assert (going_on["state"], going_on["error"]) == ("finishing", None)
    await drain(site.app, ["uploads"])
    assert (await shown(site, where))["state"] == "done"


@pytest.mark.parametrize("fate", ["cancelled", "gone", "failed"])
async def test_an_upload_that_no_live_job_is_at_can_be_given_up(site: Site, notes: Notes, fate: str):
    where, job = await sent(site)
    problem(await site.ann.delete(where, headers=VERSION), 409, "conflict")
    if fate == "failed":
        await fail(site.app)
    elif fate == "cancelled":
        await site.app.cancel(job.id)
    else:
        await site.app.remove([job.id])
    assert (await site.ann.delete(where, headers=VERSION)).status_code == 204
    assert (await site.ann.get(where)).status_code == 404
    assert (await taken_up(site.app), await left(site.app)) == (0, [])


async def test_one_that_was_handed_over_belongs_to_what_was_made_of_it(site: Site, notes: Notes):
    where, job = await sent(site)
    await drain(site.app, ["uploads"])
    await site.app.remove([job.id])
    told = problem(await site.ann.delete(where, headers=VERSION), 409, "conflict")
    assert "handed over" in told["detail"]


class Boxes:
    """A product that enqueues a job for each file, without a key."""

    def __init__(self, app: App) -> None:
        self.app, self.prepared = app, 0
        self.reached, self.gate = asyncio.Event(), asyncio.Event()
        app.operation("box.open", queue="boxes")(_nothing)
        assets.on_upload(app, "box", self.receive, prepare=self.prepare)

    async def prepare(self, ctx: Context, arrival: Arrival) -> int:
        self.prepared += 1
        if self.prepared == 1:
            self.reached.set()
            await self.gate.wait()
        return self.prepared

    async def receive(self, tx: Transaction, arrival: Arrival) -> dict[str, Any]:
        opened = await tx.enqueue("box.open", {"asset": arrival.asset.id}, subject=("box", arrival.asset.id))
        return {"job": opened, "prepared": arrival.prepared}

    async def opened(self) -> Sequence[Job]:
        return await self.app.list(operation="box.open")


async def _nothing(ctx: Context, payload: dict[str, Any]) -> None: ...


async def test_what_a_receiver_does_commits_with_the_end_of_the_upload(site: Site):
    boxes = Boxes(site.app)
    boxes.gate.set()
    where, _ = await sent(site, purpose="box")
    await drain(site.app, ["uploads"])
    [opened] = await boxes.opened()
    assert (opened.tenant, opened.subject) == ("north", ("box", where.rsplit("/", 1)[1]))
    assert (await shown(site, where))["result"] == {"job": opened.id, "prepared": 1}


async def test_a_receiver_whose_upload_cannot_be_ended_has_done_nothing(site: Site, monkeypatch: pytest.MonkeyPatch):
    boxes = Boxes(site.app)
    boxes.gate.set()
    where, _ = await sent(site, purpose="box")
    upload_id = where.rsplit("/", 1)[1]
    [taken] = await site.app.services.store.claim(Claim("uploads", 1, new_worker_id(), 60.0))
    ctx, hand_over = Context(taken, site.app.services, 60.0), finishing._hand_over

    async def meanwhile(tx: Transaction, *rest: Any) -> Any:
        await tx.change("asset_uploads_forget", ids=[upload_id])
        return await hand_over(tx, *rest)

    monkeypatch.setattr(finishing, "_hand_over", meanwhile)
    assert "refused" in await finishing.finish(site.app, ctx, upload_id)
    assert await boxes.opened() == []


async def test_an_attempt_that_lost_its_job_before_it_handed_the_file_over_hands_nothing_over(site: Site):
    boxes = Boxes(site.app)
    where, job = await sent(site, purpose="box")
    [taken] = await site.app.services.store.claim(Claim("uploads", 1, new_worker_id(), 60.0))
    late = Context(taken, site.app.services, 60.0)
    async with asyncio.timeout(60):
        slow = asyncio.create_task(finishing.finish(site.app, late, where.rsplit("/", 1)[1]))
        await boxes.reached.wait()
        await site.app.services.store.settle([transitions.release(taken.id, taken.attempt)])  # as if it had been rescued
        async with working(site.app, "uploads"):
            await in_state(site.app, job, "succeeded")
        boxes.gate.set()
        with pytest.raises(LeaseLost):
            await slow
    [opened] = await boxes.opened()
    assert (await shown(site, where))["result"] == {"job": opened.id, "prepared": 2}


async def fail(app: App) -> None:
    """As if all its attempts were used up."""
    [taken] = await app.services.store.claim(Claim("uploads", 1, new_worker_id(), 60.0))
    failed = transitions.fail(taken.id, taken.attempt, Failure("transient", "ConnectionError", "the product is away"))
    assert await app.services.store.settle([failed]) == [None]
