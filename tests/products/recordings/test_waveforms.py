"""The waveform: taken while the audio is decoded, kept with the recording, and made by a job for those that have none."""

import base64

import numpy as np
import pytest

from tests.engine.working import eventually, on_sqlite
from tests.products.recordings.ear import Ear
from tests.products.recordings.media import encoded, silence
from tests.products.recordings.studio import QUIET, Studio
from tests.server.api.site import ok, problem
from towpath.recordings.waveforms import MOST, Peaks

RATE = 16_000


def tone(seconds: float, loud: float) -> np.ndarray:
    return (32_767 * loud * np.sin(np.arange(int(seconds * RATE)) * 2 * np.pi * 220 / RATE)).astype(np.int16)


def drawn(answer: dict) -> list[int]:
    return list(base64.b64decode(answer["peaks"]))


@pytest.mark.parametrize("size", [1, 999, 3200, 1 << 20])
def test_it_is_the_same_however_the_audio_comes_in(size: int):
    samples = np.concatenate([tone(1, 0.5), tone(1.05, 1.0)]).tobytes()
    peaks = Peaks()
    for at in range(0, len(samples), size):
        peaks.add(samples[at : at + size])
    found = list(peaks.bytes())
    assert len(found) == 21
    assert all(120 <= one <= 128 for one in found[:10])
    assert all(250 <= one <= 255 for one in found[10:20])


def test_a_long_one_has_no_more_stretches_than_fit_and_loses_no_moment():
    peaks = Peaks()
    for hour in range(10 * 60):
        peaks.add(np.full(RATE * 60, 16_384 if hour == 300 else 0, dtype="<i2").tobytes())
    found = peaks.bytes()
    assert len(found) == MOST
    assert {found[at] for at in range(1001, 1003)} == {127}
    assert sum(one > 0 for one in found) == 4
    assert Peaks().bytes() == b""
    lowest = Peaks()
    lowest.add(np.array([-32768], dtype="<i2").tobytes())
    assert lowest.bytes() == b"\xff"


async def test_it_comes_with_the_transcription_and_is_shown_to_whom_the_audio_is_shared(studio: Studio, ear: Ear):
    data = encoded(np.concatenate([silence(1), tone(1, 0.8), silence(1)]), "wav")
    one = await studio.finished(data, "tone.wav", auto_summary="false")
    found = drawn(ok(await studio.ann.get(f"/api/recordings/{one['id']}/waveform")))
    assert len(found) == 30
    assert max(found[:9]) == 0
    assert min(found[11:19]) > 150
    problem(await studio.bob.get(f"/api/recordings/{one['id']}/waveform"), 404, "not_found")
    for with_audio in (True, False):
        made = ok(await studio.ann.post(f"/api/recordings/{one['id']}/shares", json={"with_audio": with_audio}), 201)
        answer = await studio.nobody.get(f"/api/shared/{made['secret']}/waveform")
        if with_audio:
            assert drawn(ok(answer)) == found
        else:
            problem(answer, 404, "not_found")


async def test_an_older_recording_gets_its_own_once_somebody_asks(studio: Studio, ear: Ear):
    one = await studio.finished(auto_summary="false")
    address = f"/api/recordings/{one['id']}/waveform"
    before = ok(await studio.ann.get(address))
    assert drawn(before)
    await studio.app.transact(lambda tx: tx.change("recording_has_peaks", id=one["id"], peaks=None))
    for _ in range(3):
        assert ok(await studio.ann.get(address)) == {"peaks": None}
    [job] = await studio.app.list(operation="recordings.waveform")

    async def there() -> bool:
        return ok(await studio.ann.get(address)) == before

    async with studio.working():
        await eventually(there)
    assert (await studio.app.get(job.id)).tenant == "north"
    assert (await studio.get(one["id"]))["status"] == "COMPLETED"


@on_sqlite
async def test_one_whose_file_is_gone_is_not_asked_for_again(studio: Studio, ear: Ear):
    one = await studio.finished(QUIET, auto_summary="false")
    for key in await studio.blobs():
        await studio.app.services.blobs.delete(key)
    await studio.app.transact(lambda tx: tx.change("recording_has_peaks", id=one["id"], peaks=None))
    address = f"/api/recordings/{one['id']}/waveform"

    async def there() -> bool:
        return ok(await studio.ann.get(address)) == {"peaks": ""}

    async with studio.working():
        await eventually(there)
    waiting = await studio.upload(name="other.wav")
    assert ok(await studio.ann.get(f"/api/recordings/{waiting['id']}/waveform")) == {"peaks": None}
