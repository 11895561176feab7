"""towpath ingest, search and documents, as processes, in this one and against a server."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import Commands, started, until, words
from tests.extraction import papers
from tests.products.documents.library import TEXT
from tests.server.api.live import Live, live_server, worker_on

DATA = ("--data", "towpath-data")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a file of each kind that a folder has, and what is none of them."""
    (tmp_path / "papers/sub").mkdir(parents=True)
    (tmp_path / "papers/.git").mkdir()
    (tmp_path / "papers/canal.txt").write_text(TEXT)
    (tmp_path / "papers/sub/tolls.pdf").write_bytes(papers.pdf("a page about horses", "seven guilders for a barge"))
    (tmp_path / "papers/bad.pdf").write_bytes(b"%PDF-1.4\nnothing more")
    (tmp_path / "papers/empty.txt").touch()
    (tmp_path / "papers/disk.img").write_bytes(bytes(3000))
    (tmp_path / "papers/loop").symlink_to(tmp_path / "papers")
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TOWPATH_") and not name.startswith("TOWPATH_TEST_")]:
        monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def towpath() -> Commands:
    return Commands("sqlite:///unused.db")


def ingested(folder: Path, *args: str, code: int = 0) -> str:
    with started("ingest", *args, cwd=folder) as process:
        assert process.end(120) == code, process.out + process.err
    return words(process.out)


def test_a_folder_is_read_found_and_read_again_only_where_it_has_changed(folder: Path, towpath: Commands):
    told = ingested(folder, "papers", "missing.txt", code=1)
    assert "missing.txt: failed: there is no such file or folder" in told
    assert "papers/bad.pdf: failed at CONTENT_EXTRACTED: the file has the form of a PDF" in told
    assert "papers/canal.txt: done" in told
    assert "papers/sub/tolls.pdf: done" in told
    for why in ("papers/.git is hidden", "disk.img is no document", "empty.txt is empty", "papers/loop leads elsewhere"):
        assert why in told
    assert "2 of 4 read" in told

    [hit] = towpath.json("search", "guilders", "--how", "words", *DATA)["results"]
    assert (hit["title"], hit["page"], hit["type"]) == ("The canal", 2, "pdf")
    [mark] = hit["highlights"]
    assert hit["text"][mark["start"] : mark["end"]] == "guilders"

    (folder / "papers/bad.pdf").unlink()
    (folder / "papers/canal.txt").write_text("The towpath is closed between the two bridges.")
    told = ingested(folder, "papers")
    assert "papers/sub/tolls.pdf: read before" in told
    assert "2 of 2 read, 1 of them before" in told
    documents = towpath.json("documents", "list", *DATA)
    assert sorted(one["name"] for one in documents) == ["canal.txt", "tolls.pdf"]
    assert towpath("search", "Brandt", "--how", "words", *DATA, code=1).stdout.strip() == "nothing was found"
    assert "no passage has these words" in towpath("search", "locomotive", *DATA).stdout
    assert "no passage has" not in towpath("search", "towpath", *DATA).stdout
    assert "2 of 2 read" in ingested(folder, "papers", "--again")


def test_what_was_interrupted_goes_on_and_nothing_is_read_twice(folder: Path, towpath: Commands):
    many = folder / "many"
    many.mkdir()
    for number in range(30):
        (many / f"{number:02}.txt").write_text(f"Barge number {number} passed the lock.")
    with started("ingest", "many", cwd=folder, terminal=True, env={"TERM": "xterm"}) as process:
        until(lambda: "done" in process.out)
        process.popen.send_signal(signal.SIGINT)
        assert process.end(60) == 130, process.out
    assert "stopping; the same command goes on from here" in process.out
    assert "━" in process.out
    told = ingested(folder, "many")
    assert "30 of 30 read" in told
    assert "read before" in told
    assert len(towpath.json("documents", "list", "--limit", "100", *DATA)) == 30
    [run] = towpath.json("documents", "runs", *DATA)
    assert run["counts"]["COMPLETED"] == 30
    assert {one["step"]: one["done"] for one in run["steps"]}["INDEXED"] == 30


def test_a_failure_is_looked_at_and_requeued_and_documents_are_shown_and_deleted(folder: Path, towpath: Commands):
    assert json.loads(ingested_json(folder, "papers", code=1))["skipped"][0]["why"] == "is hidden"
    [run] = towpath.json("documents", "runs", *DATA)
    assert run["status"] == "PARTIAL"
    shown = words(towpath("documents", "run", run["id"], *DATA).stdout)
    assert "2 completed, 1 failed" in shown
    assert "CONTENT_EXTRACTED: the file has the form of a PDF" in shown
    assert "0 items requeued" in towpath("documents", "requeue", run["id"], "--cause", "no such thing", *DATA, code=1).stdout
    assert "1 item requeued" in towpath("documents", "requeue", run["id"], "--cause", "form of a PDF", *DATA).stdout
    assert "cancelled" in towpath("documents", "cancel", run["id"], *DATA).stdout

    first, second = towpath.json("documents", "list", *DATA)
    assert first["source"].endswith(f"papers/{'sub/' if first['kind'] == 'PDF' else ''}{first['name']}")
    pdf = first if first["kind"] == "PDF" else second
    assert "seven guilders" in towpath("documents", "show", pdf["id"], "--page", "2", *DATA).stdout
    assert "has no page 9; it has 2" in towpath("documents", "show", pdf["id"], "--page", "9", *DATA, code=2).stderr
    assert "words and meaning" in towpath("documents", "show", pdf["id"], *DATA).stdout
    assert len(towpath("documents", "reingest", pdf["id"], *DATA).stdout.strip()) == 36
    gone = towpath("documents", "delete", pdf["id"], "nobody", *DATA, code=1).stdout
    assert "there is no document nobody" in gone
    assert "1 document deleted" in gone
    assert "no document has the id" in towpath("documents", "reingest", pdf["id"], *DATA, code=2).stderr
    assert [one["id"] for one in towpath.json("documents", "list", *DATA)] == [
        ({first["id"], second["id"]} - {pdf["id"]}).pop()
    ]


def ingested_json(folder: Path, *args: str, code: int = 0) -> str:
    with started("ingest", *args, "--json", cwd=folder) as process:
        assert process.end(120) == code, process.out + process.err
    return process.out


@pytest.fixture
def live(folder: Path) -> Iterator[Live]:
    with live_server(f"sqlite:///{folder}/jobs.db", folder) as live:
        yield live


def test_a_server_reads_and_finds_for_whoever_has_a_token(folder: Path, live: Live, towpath: Commands):
    there = ("--server", live.url, "--token", live.secrets["ann"])
    with worker_on(folder, "documents", "documents.care"):
        told = words(towpath("ingest", "papers", *there, code=1).stdout)
        assert "papers/canal.txt: done" in told
        assert "papers/bad.pdf: failed at CONTENT_EXTRACTED" in told
        again = towpath.json("ingest", "papers/canal.txt", "http://127.0.0.1:9/letter.txt", "gopher://x/y", *there, code=1)
        assert [(one["input"], one["status"]) for one in again["items"]] == [
            ("http://127.0.0.1:9/letter.txt", "failed"), ("gopher://x/y", "failed"), ("papers/canal.txt", "known"),
        ]  # fmt: skip
    [hit] = towpath.json("search", "Helen Brandt", "--how", "words", *there)["results"]
    assert hit["title"] == "canal.txt"
    assert towpath("search", "Brandt", "--server", live.url, "--token", live.secrets["bob"], code=1).stdout
    assert "--token is for --server" in towpath("ingest", "papers", "--token", "x", code=2).stderr
    assert not (folder / "towpath-data").exists()


def test_found_words_are_set_off_on_a_terminal_and_strangers_text_drives_nothing():
    from towpath.cli.search import marked

    shown = marked("a \x1b[2Jlock\nkeeper", [(6, 10)])
    assert shown.plain == "a �[2Jlock keeper"
    assert [(shown.plain[span.start : span.end], span.style) for span in shown.spans] == [("lock", "bold yellow")]
    long = "word " * 200 + "needle" + " word" * 200
    assert "needle" in marked(long, [(1000, 1006)]).plain
    assert marked(long, [(1000, 1006)]).plain.startswith("…")
    assert len(marked(long, [(1000, 1006)]).plain) < 420
