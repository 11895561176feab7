"""towpath transcribe and towpath watch, as processes and against a server."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import started, until, words
from tests.products.recordings.media import encoded, silence, speech
from tests.server.api.live import Live, live_server

TALK = encoded(speech("clone-test"), "mp3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "talk.mp3").write_bytes(TALK)
    return tmp_path


def test_files_are_transcribed_offline_and_what_cannot_be_is_told(folder: Path):
    (folder / "notes.mp3").write_text("these are only notes")
    (folder / "quiet.wav").write_bytes(encoded(silence(1), "wav"))
    args = ("transcribe", "talk.mp3", "notes.mp3", "quiet.wav", "--data", "data", "--out", "txt,json", "--summary")
    with started(*args, cwd=folder) as process:
        assert process.end(120) == 1, process.err
    assert "talk.mp3 → talk.txt, talk.json" in process.out
    assert "'notes.mp3' is text" in words(process.out)
    assert "no speech was heard" in process.out
    assert (folder / "talk.txt").read_text().strip()
    assert json.loads((folder / "talk.json").read_text())["summary"]["method"] == "extractive"
    assert (folder / "quiet.txt").read_text() == ""
    assert not (folder / "notes.txt").exists()

    with started("transcribe", "talk.mp3", "--data", "data", cwd=folder) as again:
        assert again.end(60) == 2
    assert "talk.txt is there already; --overwrite" in words(again.err)


def test_a_terminal_gets_bars(folder: Path):
    with started("transcribe", "talk.mp3", "--data", "data", cwd=folder, terminal=True, env={"TERM": "xterm"}) as process:
        assert process.end(120) == 0, process.out
    assert "━" in process.out
    assert "0:04 / 0:04" in process.out


def test_a_watched_folder_is_transcribed_once(folder: Path):
    args = ("watch", ".", "--data", "data", "--every", "0.2")
    with started(*args, cwd=folder) as process:
        until((folder / "talk.txt").exists, 120)
        (folder / "later.wav").write_bytes(encoded(silence(1), "wav"))
        until((folder / "later.txt").exists, 60)
        process.terminate()
        process.end(60)
    with started(*args, "--once", cwd=folder) as again:
        assert again.end(60) == 0
    assert "transcribing" not in again.out


@pytest.fixture
def live(tmp_path: Path):
    with live_server(f"sqlite:///{tmp_path}/jobs.db", tmp_path) as live:
        yield live


def test_a_server_is_asked_with_a_token(folder: Path, live: Live):
    args = ("transcribe", "talk.mp3", "--server", live.url, "--token")
    with started(*args, "tow_wrong", cwd=folder) as refused:
        assert refused.end(60) == 1
    assert "needs a session or an API token" in words(refused.out)
    with started(*args, live.secrets["ann"], "--language", "tlh", cwd=folder) as unknown:
        assert unknown.end(60) == 1
    assert "tlh" in unknown.out


def test_formats_that_do_not_exist_are_refused_before_anything_is_done(folder: Path):
    with started("transcribe", "talk.mp3", "--out", "doc", cwd=folder) as process:
        assert process.end(60) == 2
    assert "--out takes txt, srt, vtt, json, md" in words(process.err)
    assert not (folder / "towpath-data").exists()


def test_the_command_knows_the_same_formats_as_recordings():
    from towpath.cli.transcribing.writing import FORMATS
    from towpath.recordings import exports

    assert tuple(exports.FORMATS) == FORMATS
