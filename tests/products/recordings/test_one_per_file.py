"""A file is one recording, whoever reports it and how often: the table says so, and not the order in which things happen."""

import asyncio
from collections.abc import AsyncIterator

from tests.products.recordings.media import encoded, silence
from tests.products.recordings.studio import Studio
from towpath import App
from towpath.assets import MEDIA, Asset, receive
from towpath.recordings import intake
from towpath.recordings.intake import Options, Uploader
from towpath.recordings.names import KIND, TRANSCRIBE

FILE = encoded(silence(1), "flac")
ANN = Uploader("north", "ann", "ann")


async def a_file(app: App) -> Asset:
    async def pieces() -> AsyncIterator[bytes]:
        yield FILE

    return await receive(app, "north", "a.flac", pieces(), kinds=MEDIA, created_by=None)


async def test_one_that_is_reported_while_another_report_is_not_committed_waits_for_it(studio: Studio):
    app = studio.app
    asset = await a_file(app)
    one, other = [await intake.prepare(app, asset, Options(), ANN) for _ in range(2)]
    async with app.transaction() as tx:
        first = await intake.add(tx, one)
        later = asyncio.create_task(app.transact(lambda tx: intake.add(tx, other)))
        done, _ = await asyncio.wait({later}, timeout=0.2)
        assert not done
    assert await later == first
    assert len(await app.list(operation=TRANSCRIBE)) == 1


async def test_many_reports_at_once_are_one_recording_with_one_job(studio: Studio):
    app = studio.app
    asset = await a_file(app)
    made = await asyncio.gather(*[intake.create(app, asset, Options(), ANN) for _ in range(8)])
    assert len(set(made)) == 1
    assert [job.id for job in (await app.subjects.jobs(KIND, [made[0][0]]))[made[0][0]]] == [made[0][1]]


async def test_a_file_whose_recording_is_being_deleted_may_become_another_one(studio: Studio):
    app = studio.app
    asset = await a_file(app)
    first, _ = await intake.create(app, asset, Options(), ANN)
    new = await intake.prepare(app, asset, Options(), ANN)
    await app.transact(lambda tx: tx.change("recordings_remove", ids=[first], now=tx.now))
    second, _ = await app.transact(lambda tx: intake.add(tx, new))
    assert second != first
