"""towpath transcribe and towpath watch, as processes and against a server."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import Commands, started, until, words
from tests.products.recordings.media import encoded, silence, speech
from tests.server.api.live import Live, live_server, worker_on

TALK = encoded(speech("clone-test"), "mp3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "talk.mp3").write_bytes(TALK)
    return tmp_path


def test_files_are_transcribed_offline_and_what_cannot_be_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "notes.mp3").write_text("these are only notes")
    (folder / "quiet.wav").write_bytes(encoded(silence(1), "wav"))
    args = ("transcribe", "talk.mp3", "notes.mp3", "quiet.wav", "--data", "data", "--out", "txt,json", "--summary")
    with started(*args, cwd=folder) as process:
        assert process.end(120) == 1, process.err
    assert "talk.mp3 → talk.txt, talk.json" in process.out
    assert words(process.out).count("'notes.mp3' is text") == 1
    assert "no speech was heard" in process.out
    assert (folder / "talk.txt").read_text().strip()
    assert json.loads((folder / "talk.json").read_text())["summary"]["method"] == "extractive"
    assert (folder / "quiet.txt").read_text() == ""
    assert not (folder / "notes.txt").exists()

    monkeypatch.chdir(folder)
    again = Commands("sqlite:///unused.db")("transcribe", "talk.mp3", "--data", "data")
    assert "talk.mp3: done already, see talk.txt" in words(again.stdout)


def test_a_watched_folder_is_transcribed_once_and_a_terminal_gets_bars(folder: Path, monkeypatch: pytest.MonkeyPatch):
    args = ("watch", ".", "--data", "data", "--every", "0.2")
    with started(*args, cwd=folder, terminal=True, env={"TERM": "xterm"}) as process:
        until((folder / "talk.txt").exists, 120)
        (folder / "later.wav").write_bytes(encoded(silence(1), "wav"))
        until((folder / "later.txt").exists, 60)
        process.terminate()
        process.end(60)
    assert "━" in process.out
    assert "0:04 / 0:04" in process.out
    monkeypatch.chdir(folder)
    again = Commands("sqlite:///unused.db")(*args, "--once")
    assert "transcribing" not in again.stdout


@pytest.fixture
def live(tmp_path: Path):
    with live_server(f"sqlite:///{tmp_path}/jobs.db", tmp_path) as live:
        yield live


def test_a_server_transcribes_for_whoever_has_a_token(folder: Path, live: Live, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    towpath = Commands("sqlite:///unused.db")
    there = ("--server", live.url, "--token", live.secrets["ann"])
    (folder / "notes.mp3").write_text("these are only notes")
    with worker_on(folder, "transcription", "summary"):
        done = towpath("transcribe", "talk.mp3", "notes.mp3", "--out", "txt,srt,docx", *there, code=1)
        assert "talk.mp3 → talk.txt, talk.srt, talk.docx" in done.stdout
        assert (folder / "talk.docx").read_bytes().startswith(b"PK")
        assert "'notes.mp3' is text" in words(done.stdout)
        assert " --> " in (folder / "talk.srt").read_text()
        (folder / "notes.mp3").unlink()
        (folder / "later.wav").write_bytes(encoded(silence(1), "wav"))
        towpath("watch", ".", "--once", *there)
    assert (folder / "talk.txt").read_text().strip()
    assert (folder / "later.txt").read_text() == ""
    assert not (folder / "towpath-data").exists()


def test_a_server_refuses_with_its_own_words(folder: Path, live: Live, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    towpath = Commands("sqlite:///unused.db")
    args = ("transcribe", "talk.mp3", "--server", live.url, "--token")
    wrong = words(towpath(*args, "tow_wrong", code=1).stdout)
    assert "does not accept this --token" in wrong
    without = words(towpath(*args[:-1], code=1).stdout)
    assert "give it with --token" in without
    assert "Authorization" not in wrong + without
    assert "tlh" in towpath(*args, live.secrets["ann"], "--language", "tlh", code=1).stdout
    away = towpath("transcribe", "talk.mp3", "--server", "http://127.0.0.1:9", "--token", "x", code=1)
    assert "http://127.0.0.1:9 does not answer" in words(away.stdout)


def test_formats_that_do_not_exist_are_refused_before_anything_is_done(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    refused = Commands("sqlite:///unused.db")("transcribe", "talk.mp3", "--out", "doc", code=2)
    assert "--out takes txt, srt, vtt, json, md, docx, pdf" in words(refused.stderr)
    assert not (folder / "towpath-data").exists()


def test_the_command_knows_the_same_formats_as_recordings():
    from towpath.cli.transcribing.writing import FORMATS
    from towpath.recordings import exports

    assert tuple(exports.FORMATS) == FORMATS
