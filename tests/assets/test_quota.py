"""A quota holds while files arrive, not only when they are there; and nobody has any number of uploads open."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.assets import media
from tests.assets.test_receiving import left, received, rows
from tests.assets.tus import VERSION, Notes, begin, begun, send
from tests.server.api.site import Site, ok, problem
from towpath import App, assets
from towpath.assets import quota

DATA = media.sound("wav")
STEP = 10_000


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "STEP", STEP)


async def test_bytes_of_files_that_come_at_the_same_time_count_together(app: App):
    """Each would fit by itself, and none of them has ended yet."""
    data = DATA + bytes(100_000 - len(DATA))
    app.settings = replace(app.settings, upload_quota_bytes=250_000)
    settled, go_on, whole = asyncio.Semaphore(0), asyncio.Event(), 0

    async def halting() -> AsyncIterator[bytes]:
        nonlocal whole
        for start in range(0, len(data), STEP):
            yield data[start : start + STEP]
        whole += 1
        settled.release()
        await go_on.wait()

    async def sending() -> assets.Asset:
        try:
            return await assets.receive(app, "north", "a.wav", halting(), kinds=assets.MEDIA, created_by="ann")
        except assets.AssetRefused:
            settled.release()
            raise

    async with asyncio.timeout(60):
        sent = [asyncio.create_task(sending()) for _ in range(6)]
        for _ in sent:
            await settled.acquire()
        assert whole <= 2
        go_on.set()
        ended = await asyncio.gather(*sent, return_exceptions=True)
    refused = [one for one in ended if isinstance(one, assets.AssetRefused)]
    assert len(refused) == 6 - whole
    assert all("no room left" in str(one) and "250,000" in str(one) and one.why == "no_room" for one in refused)
    assert (len(await left(app)), await rows(app)) == (whole, whole)
    assert (await assets.usage(app, "north")).bytes == whole * len(data)


async def test_what_has_come_of_a_file_is_counted_before_the_rest_comes(app: App):
    app.settings = replace(app.settings, upload_quota_bytes=1_000_000)
    come, go_on = asyncio.Event(), asyncio.Event()

    async def halting() -> AsyncIterator[bytes]:
        yield DATA
        come.set()
        await go_on.wait()
        yield DATA

    task = asyncio.create_task(assets.receive(app, "north", "a.wav", halting(), kinds=assets.MEDIA, created_by="ann"))
    async with asyncio.timeout(30):
        await come.wait()
        assert (await assets.usage(app, "north")).bytes == len(DATA)
        app.settings = replace(app.settings, upload_quota_bytes=len(DATA) + 10)
        with pytest.raises(assets.AssetRefused, match="no room left"):
            await received(app, DATA)
        app.settings = replace(app.settings, upload_quota_bytes=1_000_000)
        go_on.set()
        asset = await task
    assert asset.bytes == 2 * len(DATA)
    assert (await assets.usage(app, "north")).bytes == asset.bytes


async def test_a_resumable_upload_leaves_no_room_for_a_form_that_would_not_fit_beside_it(app: App, site: Site, notes: Notes):
    site.app.settings = replace(site.app.settings, upload_quota_bytes=100_000)
    await begun(site.ann, 100_000 - len(DATA) + 1)
    with pytest.raises(assets.AssetRefused, match="no room left"):
        await received(site.app, DATA)


async def test_an_account_has_only_so_many_uploads_open(site: Site, notes: Notes):
    site.app.settings = replace(site.app.settings, open_uploads_per_account=2)
    first = await begun(site.ann, len(DATA))
    second = await begun(site.ann, len(DATA))
    refused = problem(await begin(site.ann, len(DATA)), 429, "throttled")
    assert "2 uploads" in refused["detail"]
    assert "TOWPATH_OPEN_UPLOADS_PER_ACCOUNT" in refused["remedy"]
    assert (await begin(site.bob, len(DATA))).status_code == 201  # another account has its own
    assert (await send(site.ann, first, 0, DATA)).status_code == 204  # one that is whole is open no more
    await begun(site.ann, len(DATA))
    problem(await begin(site.ann, len(DATA)), 429, "throttled")
    assert (await site.ann.delete(second, headers=VERSION)).status_code == 204
    await begun(site.ann, len(DATA))
    assert ok(await site.ann.get("/api/assets/usage"))["assets"] == 3


async def test_files_that_come_as_forms_are_open_uploads_too(lite: App):
    lite.settings = replace(lite.settings, open_uploads_per_account=1)
    begun_one = asyncio.Event()

    async def hanging() -> AsyncIterator[bytes]:
        yield DATA
        begun_one.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(assets.receive(lite, "north", "a.wav", hanging(), kinds=assets.MEDIA, created_by="ann"))
    async with asyncio.timeout(30):
        await begun_one.wait()
        with pytest.raises(assets.AssetRefused, match="1 upload open"):
            await received(lite, DATA)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while await rows(lite):  # noqa: ASYNC110  (the clean-up goes on by itself)
            await asyncio.sleep(0.02)
    await received(lite, DATA)


async def test_of_uploads_that_begin_at_the_same_time_only_so_many_are_taken(app: App, site: Site, notes: Notes):
    site.app.settings = replace(site.app.settings, open_uploads_per_account=3)
    answers = await asyncio.gather(*[begin(site.ann, 1000) for _ in range(8)])
    assert sorted(answer.status_code for answer in answers) == [201] * 3 + [429] * 5
