"""Decoding: every format, bad files, and limits that hold."""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import termios
import wave
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.assets import media
from towpath.assets import Limits, MediaUnreadable, decode, decoding, probe

SECOND = 32_000


def placed(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "input"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("kind", media.KINDS)
async def test_every_format_is_decoded_to_its_length(kind: str, tmp_path: Path):
    path, target = placed(tmp_path, media.sound(kind)), tmp_path / "out.pcm"
    info = await decode(path, target)
    assert info.duration_seconds == pytest.approx(1.0, abs=0.15)
    assert info.duration_seconds == target.stat().st_size / SECOND
    assert not info.has_video
    assert info.damaged_packets == 0


async def test_a_wav_has_a_header_that_players_understand(tmp_path: Path):
    await decode(placed(tmp_path, media.sound("mp3")), tmp_path / "out.wav")
    with wave.open(str(tmp_path / "out.wav")) as found:
        assert (found.getframerate(), found.getnchannels(), found.getsampwidth()) == (16_000, 1, 2)
        assert found.getnframes() == pytest.approx(16_000, abs=2_500)


async def test_a_probe_tells_what_the_file_declares(tmp_path: Path):
    info = await probe(placed(tmp_path, media.sound("m4a", 3.0)))
    assert info.duration_seconds == pytest.approx(3.0, abs=0.2)
    assert (info.codec, info.channels, info.sample_rate, info.has_video) == ("aac", 1, 16_000, False)


async def test_a_film_without_sound_is_refused_in_these_words(tmp_path: Path):
    with pytest.raises(MediaUnreadable, match="no audio track"):
        await probe(placed(tmp_path, media.film()))


@pytest.mark.parametrize("data", [b"", b"just text", b"\x00" * 5000, os.urandom(20_000)])
async def test_what_is_no_media_is_refused_and_leaves_no_output(data: bytes, tmp_path: Path):
    with pytest.raises(MediaUnreadable, match="cannot be read") as caught:
        await decode(placed(tmp_path, data), tmp_path / "out.pcm")
    assert caught.value.remedy
    assert not (tmp_path / "out.pcm").exists()


async def test_a_truncated_mp4_with_its_index_at_the_end_is_refused(tmp_path: Path):
    whole = media.sound("mp4", 5.0)
    with pytest.raises(MediaUnreadable, match="only a part of it"):
        await decode(placed(tmp_path, whole[: len(whole) // 2]), tmp_path / "out.pcm")


async def test_a_truncated_mp4_with_its_index_in_front_gives_what_is_there(tmp_path: Path):
    whole = media.encoded(media.tone(5.0), "mp4", movflags="faststart")
    declared = await probe(placed(tmp_path, whole[: len(whole) * 2 // 3]))
    info = await decode(placed(tmp_path, whole[: len(whole) * 2 // 3]), tmp_path / "out.pcm")
    assert declared.duration_seconds == pytest.approx(5.0, abs=0.2)
    assert 1.0 < info.duration_seconds < 4.5


async def test_audio_of_no_length_has_the_length_zero(tmp_path: Path):
    info = await decode(placed(tmp_path, media.empty_wav()), tmp_path / "out.pcm")
    assert info.duration_seconds == 0
    assert (tmp_path / "out.pcm").read_bytes() == b""


async def test_a_small_file_that_decodes_to_hours_is_stopped_at_the_limit(tmp_path: Path):
    bomb = media.encoded(media.np.zeros(1800 * media.RATE, dtype=media.np.int16), "flac")
    assert len(bomb) < 1_000_000
    with pytest.raises(MediaUnreadable, match=r"longer than the 0[.]1 hours"):
        await decode(placed(tmp_path, bomb), tmp_path / "out.pcm", limits=Limits(longest_seconds=360))
    assert not (tmp_path / "out.pcm").exists()


async def test_a_header_that_lies_about_the_length_is_not_believed(tmp_path: Path):
    lying = bytearray(media.sound("wav", 2.0))
    place = lying.index(b"data") + 4
    lying[place : place + 4] = (0x7FFFFFF0).to_bytes(4, "little")
    info = await decode(placed(tmp_path, bytes(lying)), tmp_path / "out.pcm")
    assert info.duration_seconds == pytest.approx(2.0, abs=0.01)


async def test_a_playlist_cannot_make_the_decoder_open_other_files(tmp_path: Path):
    secret = tmp_path / "secret.wav"
    secret.write_bytes(media.sound("wav"))
    for text in (f"#EXTM3U\n#EXTINF:1,\n{secret}\n#EXT-X-ENDLIST\n", f"ffconcat version 1.0\nfile {secret}\n"):
        with pytest.raises(MediaUnreadable):
            await decode(placed(tmp_path, text.encode()), tmp_path / "out.pcm")


async def test_long_audio_is_decoded_in_little_memory(tmp_path: Path):
    """An hour decodes to 115 MB, which would not fit what the process is allowed beyond its own size."""
    path = tmp_path / "input"
    with wave.open(str(path), "wb") as target:
        target.setnchannels(1)
        target.setsampwidth(2)
        target.setframerate(8_000)
        for _ in range(60):
            target.writeframes(b"\x00" * 8_000 * 2 * 60)
    info = await decode(path, tmp_path / "out.pcm", limits=Limits(memory_mb=300))
    assert info.duration_seconds == pytest.approx(3600, abs=1)


async def test_too_little_time_and_too_little_memory_are_told_apart(tmp_path: Path):
    path = placed(tmp_path, media.sound("flac"))
    with pytest.raises(MediaUnreadable, match=r"longer than 0[.]001 s"):
        await decode(path, tmp_path / "out.pcm", limits=Limits(wall_seconds=0.001))
    with pytest.raises(MediaUnreadable, match="more than 60 MB of memory"):
        await decode(path, tmp_path / "out.pcm", limits=Limits(memory_mb=60))


async def test_a_decoder_that_computes_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "endless.py"
    program.write_text(
        f"import json, runpy, sys\nlimit = runpy.run_path({str(decoding._PROGRAM)!r})['limit']\n"
        "limit(json.loads(sys.argv[1])['limits'])\nwhile True:\n    pass\n"
    )
    monkeypatch.setattr(decoding, "_PROGRAM", program)
    with pytest.raises(MediaUnreadable, match="more than 1 s of computing"):
        await decode(placed(tmp_path, b""), tmp_path / "out.pcm", limits=Limits(cpu_seconds=1, wall_seconds=60))


async def test_a_cancelled_decode_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pids = tmp_path / "pids"
    program = tmp_path / "stuck.py"
    program.write_text(
        "import os, pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"pathlib.Path({str(pids)!r} + '.new').write_text(f'{{os.getpid()}} {{child.pid}}')\n"
        f"os.rename({str(pids)!r} + '.new', {str(pids)!r})\n"
        "time.sleep(600)\n"
    )
    monkeypatch.setattr(decoding, "_PROGRAM", program)
    task = asyncio.create_task(decode(placed(tmp_path, b""), tmp_path / "out.pcm"))
    async with asyncio.timeout(20):
        while not pids.exists():  # noqa: ASYNC110  (another process makes it)
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for pid in map(int, pids.read_text().split()):
            while _runs(pid):  # noqa: ASYNC110  (another process ends)
                await asyncio.sleep(0.02)


async def test_whoever_stops_in_the_middle_of_long_audio_does_not_wait_for_the_rest(tmp_path: Path):
    """More than what fits the pipes is on its way when nobody reads any more."""
    path = placed(tmp_path, media.encoded(media.np.zeros(600 * media.RATE, dtype=media.np.int16), "flac"))
    running = decoding.Decoding(path, Limits())
    async with asyncio.timeout(30), aclosing(running.pieces()) as pieces:
        async for _ in pieces:
            await asyncio.sleep(0.2)  # so that the decoder is ahead
            break
    assert running.info is None


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_decoder_ends_when_whoever_started_it_is_killed(tmp_path: Path):
    fifo = tmp_path / "input.wav"
    os.mkfifo(fifo)  # nothing ever comes out of it: the decoder is surely still there
    code = (
        "import asyncio, sys; from pathlib import Path; from towpath.assets import decode\n"
        f"asyncio.run(decode(Path({str(fifo)!r}), Path({str(tmp_path / 'out.pcm')!r})))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    try:
        writer = os.open(fifo, os.O_WRONLY)
        os.write(writer, b"R")
        while fcntl.ioctl(writer, termios.FIONREAD, b"1234") != bytes(4):  # until the decoder is at it
            signal.sigtimedwait([], 0.02)
        [child] = (int(pid) for pid in Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split())
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait(10)
        for _ in range(500):
            if not _runs(child):
                break
            signal.sigtimedwait([], 0.02)
        assert not _runs(child)
        os.close(writer)
    finally:
        parent.kill()
        parent.wait(10)
