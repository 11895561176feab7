"""towpath transcribe once more: what is done is left out, what was interrupted goes on, here and on a server."""

import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.cli.commands import Commands, started, until, words
from tests.products.recordings.media import encoded, silence, speech

GATED = """
import asyncio, pathlib
from towpath.recordings import windows

begun, hear = 0, windows._hear_window

async def gated(*window):
    global begun
    begun += 1
    while begun > 1 and pathlib.Path("gate").exists():
        await asyncio.sleep(0.01)
    return await hear(*window)

windows._hear_window = gated
"""
"""In a process that begins with this, one window is heard while there is a file called gate, and the others wait."""
QUICKLY = {"TOWPATH_DRAIN_SECONDS": "0.2", "PYTHONPATH": "beginning"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beginning").mkdir()
    (tmp_path / "beginning/sitecustomize.py").write_text(GATED)
    return tmp_path


def long_talk() -> bytes:
    """Minutes of speech, in many windows."""
    return encoded(np.concatenate([speech("two_cities"), silence(2)] * 3), "mp3")


def asked(folder: Path, query: str) -> list[tuple[object, ...]]:
    path = folder / "towpath-data/towpath.db"
    if not path.exists():
        return []
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute(query).fetchall()
        except sqlite3.OperationalError:  # its tables are still being made
            return []


def heard(folder: Path) -> set[tuple[object, ...]]:
    """The windows that were heard, and when."""
    found = asked(folder, "SELECT job_id, name, attempt, created_at FROM towpath_step WHERE done AND name LIKE 'window%'")
    return set(found)


def recordings(folder: Path) -> int:
    [[count]] = asked(folder, "SELECT count(*) FROM towpath_recording WHERE removed_at IS NULL")
    return int(str(count))


def transcribe(folder: Path, *args: str, code: int = 0) -> str:
    with started("transcribe", *args, cwd=folder, env=QUICKLY) as process:
        assert process.end(150) == code, process.out + process.err
    return words(process.out + process.err)


def interrupted(folder: Path, *args: str) -> None:
    """By Ctrl-C, when some of it has been heard and some has not."""
    (folder / "gate").touch()
    with started("transcribe", *args, cwd=folder, env=QUICKLY) as process:
        until(lambda: heard(folder) or process.popen.poll() is not None, timeout=150)
        process.popen.send_signal(signal.SIGINT)
        assert process.end(150) == 130, process.out + process.err
        assert "the same command goes on from here" in words(process.out)
    (folder / "gate").unlink()


def test_after_ctrl_c_the_same_command_goes_on_where_it_stopped_and_then_finds_it_done(folder: Path):
    (folder / "talk.mp3").write_bytes(long_talk())
    interrupted(folder, "talk.mp3")
    before = heard(folder)
    assert before
    assert not (folder / "talk.txt").exists()

    assert "talk.mp3 → talk.txt" in transcribe(folder, "talk.mp3")
    assert heard(folder) > before
    assert recordings(folder) == 1

    after = heard(folder)
    assert "talk.mp3: done already, see talk.txt" in transcribe(folder, "talk.mp3")
    assert (heard(folder), recordings(folder)) == (after, 1)


def test_a_server_goes_on_by_itself_and_the_same_command_takes_up_its_recording(folder: Path):
    (folder / "talk.mp3").write_bytes(long_talk())
    with started("up", "--no-example", "--port", "0", cwd=folder, env=QUICKLY) as server:
        until(lambda: "/login?token=" in server.out or server.popen.poll() is not None, timeout=300)
        base = re.search(r"http://127\.0\.0\.1:\d+", server.out)[0]
        token = Commands("sqlite:///unused.db")("token", "create", "--data", "towpath-data").stdout.split()[-1]
        there = ("--server", base, "--token", token)
        interrupted(folder, "talk.mp3", *there)
        assert "talk.mp3 → talk.txt" in transcribe(folder, "talk.mp3", *there)
        assert recordings(folder) == 1
        assert "talk.mp3: done already, see talk.txt" in transcribe(folder, "talk.mp3", *there)
        assert "talk.mp3 → talk.srt" in transcribe(folder, "talk.mp3", "--out", "txt,srt", *there)
        assert recordings(folder) == 1
        transcribe(folder, "talk.mp3", "--again", *there)
        assert recordings(folder) == 2
        server.terminate()
        server.end(150)


def test_a_file_is_known_by_its_content_and_what_is_wanted_of_it(folder: Path):
    talk = encoded(speech("clone-test"), "mp3")
    (folder / "talk.mp3").write_bytes(talk)
    (folder / "copy.mp3").write_bytes(talk)
    said = transcribe(folder, "talk.mp3", "copy.mp3", "--summary")
    assert "talk.mp3 → talk.txt" in said
    assert "copy.mp3 → copy.txt" in said
    assert recordings(folder) == 1
    assert (folder / "copy.txt").read_text() == (folder / "talk.txt").read_text()

    assert transcribe(folder, "talk.mp3", "copy.mp3").count("done already") == 2  # one with a summary is as good
    transcribe(folder, "talk.mp3", "--speakers", "--overwrite")
    assert recordings(folder) == 2
    transcribe(folder, "talk.mp3", "--force")
    assert recordings(folder) == 3


def test_what_is_there_and_is_no_transcript_of_the_file_is_not_replaced_unasked(folder: Path):
    (folder / "talk.mp3").write_bytes(encoded(speech("clone-test"), "mp3"))
    (folder / "talk.txt").write_text("my notes")
    assert "talk.txt is there already, and not as the transcript of talk.mp3" in transcribe(folder, "talk.mp3", code=2)
    assert not (folder / "towpath-data").exists()
    transcribe(folder, "talk.mp3", "--to", "elsewhere")
    (folder / "talk.mp3").write_bytes(encoded(silence(1), "mp3"))
    assert "is there already" in transcribe(folder, "talk.mp3", "--to", "elsewhere", code=2)
    assert (folder / "talk.txt").read_text() == "my notes"
    assert recordings(folder) == 1
    transcribe(folder, "talk.mp3", "--overwrite")
    assert (folder / "talk.txt").read_text() == ""


def test_what_failed_or_was_called_off_is_begun_again(folder: Path):
    (folder / "talk.mp3").write_bytes(long_talk())
    interrupted(folder, "talk.mp3")
    towpath = Commands(f"sqlite:///{folder}/towpath-data/towpath.db")
    [[job]] = asked(folder, "SELECT id FROM towpath_job WHERE operation = 'transcribe'")
    towpath("jobs", "cancel", job)
    before = heard(folder)
    assert "talk.mp3 → talk.txt" in transcribe(folder, "talk.mp3")
    assert recordings(folder) == 1
    assert heard(folder) > before
