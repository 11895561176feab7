"""The place in line that is told is the order in which recordings are really begun, whoever sent them and however."""

import random
from collections.abc import AsyncIterator

import pytest

from tests.engine.working import eventually, on_sqlite
from tests.products.recordings.ear import Ear
from tests.products.recordings.media import encoded, silence
from tests.products.recordings.studio import Studio
from towpath import App
from towpath.assets import MEDIA, receive
from towpath.engine.asking import line, prospects
from towpath.engine.running import claims
from towpath.engine.running.pace import Pace
from towpath.recordings import stored
from towpath.recordings.intake import Options, Uploader, create
from towpath.recordings.names import TRANSCRIPTION_QUEUE
from towpath.recordings.views import views

FILES = {seconds: encoded(silence(seconds), "flac") for seconds in (1, 40, 100)}
PEOPLE = {"north": ("ann", "amy"), "south": ("bob",), "east": ("cid", "col"), "west": ("dot",)}
CAPS = {
    "south/bob": {"max_roots": 1},
    "east/cid": {"max_slots": 1},
    "east/col": {"weight": 3.0},
    "west/dot": {"max_slots": 2},
}
"""North has what everybody gets by default: two open recordings for each person."""


@pytest.fixture(autouse=True)
def _exact(monkeypatch: pytest.MonkeyPatch, ear: Ear) -> None:
    """Nothing hangs on the clock: the floor is written with every turn, and no job is claimed ahead because jobs are short
    beside the turns of a busy machine. (Such a claim passes by whoever waits for a cap to open.)"""
    monkeypatch.setattr(claims, "_WRITE_EVERY", 0.0)
    monkeypatch.setattr(Pace, "ending_soon", lambda *_: 0)
    ear.hears = ((0.0, 1.0, "All the locks are open."),)


async def _send(app: App, tenant: str, person: str, seconds: int, priority: int = 1) -> str:
    async def pieces() -> AsyncIterator[bytes]:
        yield FILES[seconds]

    asset = await receive(app, tenant, f"{person}.flac", pieces(), kinds=MEDIA, created_by=None)
    options = Options(auto_summary=False, priority=priority)
    recording_id, _ = await create(app, asset, options, Uploader(tenant, person, person))
    # Until it is decoded its length is a guess, and whoever guesses wrong about silence is not wrong about the order.
    measured = {"id": recording_id, "duration": float(seconds), "peaks": None}
    await app.services.store.run(lambda tx: tx.execute("recording_measured", **measured))
    return recording_id


async def _send_all(app: App, seed: int, count: int = 3) -> list[str]:
    chance = random.Random(seed)
    for name, cap in CAPS.items():
        await app.queues.lane(TRANSCRIPTION_QUEUE, name, **cap)
    wanted = [(tenant, person) for tenant, people in PEOPLE.items() for person in people for _ in range(count)]
    chance.shuffle(wanted)
    lengths, bands = list(FILES), (0, 1, 1, 1, 2)
    return [await _send(app, *whose, chance.choice(lengths), chance.choice(bands)) for whose in wanted]


async def _places(app: App, ids: list[str]) -> dict[str, int]:
    """Of those that wait."""
    told = await views(app, await stored.by_ids(app, ids))
    return {view.recording.id: view.job.position for view in told if view.job and view.job.position is not None}


async def _begun(app: App, ids: list[str]) -> list[str]:
    """In the order in which they were."""
    works = await stored.work_on(app, await stored.by_ids(app, ids))
    started = [(work.jobs[0].started_at, work.recording.id) for work in works if work.jobs[0].started_at is not None]
    return [one for _, one in sorted(started)]


async def _all_done(studio: Studio, ids: list[str]) -> None:
    async def done() -> bool:
        return all(one.transcript_id for one in await stored.by_ids(studio.app, ids))

    await eventually(done, 120)


@pytest.mark.parametrize("seed", [1, 2])
@on_sqlite
async def test_the_places_told_before_anybody_works_are_the_order_in_which_recordings_begin(studio: Studio, seed: int):
    ids = await _send_all(studio.app, seed)
    places = await _places(studio.app, ids)
    assert sorted(places.values()) == list(range(1, len(ids) + 1))
    async with studio.working(1):
        await _all_done(studio, ids)
    assert [places[one] for one in await _begun(studio.app, ids)] == list(range(1, len(ids) + 1))


async def test_the_places_told_in_the_middle_of_the_work_are_the_order_of_what_follows(studio: Studio, ear: Ear):
    ids = await _send_all(studio.app, 4)
    ear.stops_at = 12  # windows
    async with studio.working(1):
        await eventually(lambda: ear.stopped, 60)
        places, before = await _places(studio.app, ids), await _begun(studio.app, ids)
        assert set(places) == set(ids) - set(before)
        assert before
        assert sorted(places.values()) == list(range(1, len(places) + 1))
        ear.go_on()
        await _all_done(studio, ids)
    after = (await _begun(studio.app, ids))[len(before) :]
    assert [places[one] for one in after] == list(range(1, len(places) + 1))


@on_sqlite
async def test_uploads_of_one_person_stand_in_the_order_in_which_they_came(studio: Studio):
    ids = [await _send(studio.app, "north", "ann", 1) for _ in range(4)]
    assert await _places(studio.app, ids) == {one: number for number, one in enumerate(ids, 1)}


async def test_over_a_thousand_is_told_as_such_and_what_is_near_is_exact(studio: Studio, monkeypatch: pytest.MonkeyPatch):
    for module in (line, prospects):
        monkeypatch.setattr(module, "MOST_IN_LINE", 5)
    monkeypatch.setattr(line, "_FEW_PARKED", 2)
    mine = [await _send(studio.app, "north", "ann", 1) for _ in range(8)]
    free = [await _send(studio.app, "default", "default", 1) for _ in range(1)]
    told = {view.recording.id: view.job for view in await views(studio.app, await stored.by_ids(studio.app, mine))}
    found = [(told[one].position, told[one].position_is_more) for one in mine]
    assert found == [(1, False), (3, False), (4, False), (5, False), (5, True), (5, True), (5, True), (5, True)]
    assert await _places(studio.app, free) == {free[0]: 2}
