"""Estimates come from what is ahead, who works and how fast; where they cannot, there is a reason."""

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from tests.engine.working import eventually, on_sqlite
from tests.products.recordings.ear import Ear
from tests.products.recordings.media import encoded, silence
from tests.products.recordings.studio import Studio
from tests.server.api.site import ok
from towpath import Context
from towpath.core.encoding import encode
from towpath.recordings import windows
from towpath.recordings.learning import learn_alone, speeds_of
from towpath.recordings.names import SUMMARY_QUEUE, TRANSCRIBE, TRANSCRIPTION_QUEUE, WINDOWS
from towpath.store.contract import Claim

MINUTE = encoded(silence(60), "wav")
LONG = encoded(silence(600), "flac")
SAID = ((0.1, 0.9, "The lock opens at seven."),)


@pytest.fixture(autouse=True)
def _nothing_is_heard_for_real(ear: Ear) -> None:
    ear.hears = SAID


async def _fast(studio: Studio, speed: float = 10.0) -> None:
    """As if much had been heard lately, at this speed."""
    await learn_alone(studio.app, "scripted", 100_000.0 * speed, 100_000.0)


async def _job(studio: Studio, recording_id: str) -> dict[str, Any]:
    job: dict[str, Any] = (await studio.get(recording_id, studio.root))["job"]
    return job


async def _middle(studio: Studio, recording_id: str) -> float:
    job = await _job(studio, recording_id)
    assert job["eta_seconds"] is not None, job["waiting_for"]
    low, high = job["eta_seconds"]
    assert 0 < low < high
    return (low * high) ** 0.5


async def test_while_nobody_works_there_is_a_reason_instead_of_an_estimate(studio: Studio):
    await _fast(studio)
    sent = await studio.upload(MINUTE)
    job = await _job(studio, sent["id"])
    assert (job["position"], job["eta_seconds"]) == (1, None)
    assert job["waiting_for"] == "no live worker serves the queue 'transcription'"


async def test_while_the_queue_is_paused_there_is_a_reason_also_for_what_is_begun(studio: Studio, ear: Ear):
    await _fast(studio)
    ear.held.clear()
    begun = await studio.upload(MINUTE)
    async with studio.working(1):
        await asyncio.wait_for(ear.reached.wait(), 30)
        waits = await studio.upload(MINUTE)
        await studio.app.queues.pause(TRANSCRIPTION_QUEUE)
        for sent, place in ((begun, None), (waits, 1)):
            job = await _job(studio, sent["id"])
            assert (job["eta_seconds"], job["position"]) == (None, place)
            assert job["waiting_for"] == "the queue 'transcription' is paused"
        await studio.app.queues.resume(TRANSCRIPTION_QUEUE)
        assert (await _job(studio, begun["id"]))["eta_seconds"] is not None
        ear.held.set()


async def _stranger(studio: Studio, queue: str, *knows: str) -> None:
    """A live worker with four slots that serves the queue, and knows these of its operations."""
    await studio.app.services.store.run(
        lambda tx: tx.execute(
            "put_worker", id="w", name="w", queues=encode([queue]), operations=encode(list(knows)), concurrency=4, running=0,
            version="0", process="p", now=tx.now, alive_until=tx.now + timedelta(minutes=1),
        )
    )  # fmt: skip


@on_sqlite
async def test_a_worker_that_does_not_know_the_work_is_no_reason_for_an_estimate(studio: Studio):
    await _fast(studio)
    sent = await studio.upload(MINUTE)
    await _stranger(studio, TRANSCRIPTION_QUEUE)
    assert "knows this kind of work" in (await _job(studio, sent["id"]))["waiting_for"]


async def test_other_peoples_recordings_before_it_and_their_length_count(studio: Studio, ear: Ear):
    await _fast(studio)
    ear.held.clear()
    first = await studio.upload(MINUTE, by=studio.bob)
    async with studio.working(1):
        await asyncio.wait_for(ear.reached.wait(), 30)
        mine = await studio.upload(MINUTE)
        alone = await _middle(studio, mine["id"])
        await studio.upload(LONG, by=studio.root, priority="0")
        assert await _middle(studio, mine["id"]) > alone + 20  # a minute of audio takes 6 s, ten minutes take 60
        ear.held.set()
        await studio.done(first["id"])


async def test_what_is_heard_already_does_not_count_any_more(studio: Studio, ear: Ear):
    await _fast(studio, 1.0)
    ear.held.clear()
    sent = await studio.upload(encoded(silence(300), "wav"))
    async with studio.working(1):
        await asyncio.wait_for(ear.reached.wait(), 30)
        whole = await _middle(studio, sent["id"])
        assert whole > 150
        ear.stops_at = 9
        ear.held.set()
        await eventually(lambda: ear.stopped, 30)
        # Nine of ten windows took no time at all: the speed of this very run counts, and only what is left.
        assert await _middle(studio, sent["id"]) < whole / 20
        ear.go_on()


async def test_what_goes_by_around_the_windows_of_this_very_run_counts(studio: Studio, ear: Ear):
    await _fast(studio)
    sent = await studio.upload(encoded(silence(300), "wav"))
    ear.stops_at = 9
    async with studio.working(1):
        await eventually(lambda: ear.stopped, 30)
        before = await _middle(studio, sent["id"])
        store = studio.app.services.store
        job, earlier = ("towpath_job", "started_at - 100") if store.dialect == "sqlite" else (
            "towpath.job", "started_at - interval '100 seconds'"
        )  # fmt: skip
        ended = f"UPDATE {job} SET started_at = {earlier} WHERE parent_id IS NOT NULL AND finished_at IS NOT NULL"
        assert await store.run(lambda tx: tx.execute_sql(ended))
        assert await _middle(studio, sent["id"]) > 5 * before
        ear.go_on()


@on_sqlite
async def test_the_speed_that_is_learned_counts_what_is_written_between_windows(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
):
    clock = [0.0]
    monkeypatch.setattr(windows, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    async def shared(_self: Context) -> None:
        clock[0] += 7.0

    monkeypatch.setattr(Context, "share_progress", shared)
    sent = await studio.upload(MINUTE)
    async with studio.working(1):
        await studio.done(sent["id"])
    speeds = await speeds_of(studio.app)
    assert speeds.plain is not None
    assert speeds.plain.speed < 60 / 7


@on_sqlite
async def test_more_slots_are_done_sooner_and_slots_at_something_else_do_not_count(studio: Studio, ear: Ear):
    await _fast(studio, 1.0)
    sent = await studio.upload(encoded(silence(600), "wav"))
    ear.held.clear()
    async with studio.working(1):
        await asyncio.wait_for(ear.reached.wait(), 30)
        one = await _middle(studio, sent["id"])
        async with studio.working(3):
            await eventually(lambda: _sooner(studio, sent["id"], one / 2))
        ear.held.set()


async def _sooner(studio: Studio, recording_id: str, seconds: float) -> bool:
    return await _middle(studio, recording_id) < seconds


async def test_slots_that_are_at_other_work_do_not_count(studio: Studio):
    await _fast(studio, 1.0)
    sent = await studio.upload(encoded(silence(600), "wav"))
    await _stranger(studio, TRANSCRIPTION_QUEUE, TRANSCRIBE, WINDOWS)
    free = await _middle(studio, sent["id"])
    for _ in range(3):
        await studio.app.enqueue("elsewhere", queue="other")
    assert len((await studio.app.services.store.claim(Claim("other", 3, "w", 30.0))).jobs) == 3
    assert await _middle(studio, sent["id"]) > 2 * free


@on_sqlite
async def test_the_length_that_a_file_states_counts_before_anybody_has_decoded_it(studio: Studio, ear: Ear):
    await _fast(studio)
    ear.held.clear()
    first = await studio.upload(MINUTE, by=studio.bob)
    async with studio.working(1):
        await asyncio.wait_for(ear.reached.wait(), 30)
        short, long = await studio.upload(MINUTE, "short.wav"), await studio.upload(LONG, "long.flac")
        assert (await _job(studio, long["id"]))["progress"] is None
        assert await _middle(studio, long["id"]) > 3 * await _middle(studio, short["id"])
        ear.held.set()
        await studio.done(first["id"])


async def test_summaries_have_places_and_estimates_or_reasons_too(studio: Studio):
    await _fast(studio)
    sent = await studio.upload(MINUTE, auto_summary="true")
    async with studio.working_on(TRANSCRIPTION_QUEUE):
        await studio.until(sent["id"], "SUMMARIZING")
        job = await _job(studio, sent["id"])
        assert (job["queue_type"], job["position"], job["eta_seconds"]) == ("summary", 1, None)
        assert job["waiting_for"] == "no live worker serves the queue 'summary'"
        await _stranger(studio, SUMMARY_QUEUE)
        assert "knows this kind of work" in (await _job(studio, sent["id"]))["waiting_for"]
        await studio.app.queues.pause(SUMMARY_QUEUE)
        async with studio.working_on(SUMMARY_QUEUE):
            assert (await _job(studio, sent["id"]))["waiting_for"] == "the queue 'summary' is paused"
            await studio.app.queues.resume(SUMMARY_QUEUE)
            await studio.done(sent["id"])


@on_sqlite
async def test_where_nothing_was_measured_the_model_is_known_for_its_speed(studio: Studio, ear: Ear):
    ear.held.clear()
    sent = await studio.upload(MINUTE)
    async with studio.working(1):
        await asyncio.wait_for(ear.reached.wait(), 30)
        low, high = (await _job(studio, sent["id"]))["eta_seconds"]
        assert high / low > 10  # nobody knows this machine
        ear.held.set()
        await studio.done(sent["id"])
    [found] = ok(await studio.ann.get("/api/recordings"))["items"]
    assert (found["job"]["eta_seconds"], found["job"]["position"], found["job"]["waiting_for"]) == (None, None, None)
