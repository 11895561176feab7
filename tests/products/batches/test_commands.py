"""towpath batch on the command line: send, look, watch, fetch, stop, ask again."""

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import Commands, words
from tests.engine.working import on_sqlite
from tests.models.wire_server import WireServer
from tests.products.batches.desk import Desk, request
from tests.products.batches.test_here import asks, echo
from towpath import App, Settings
from towpath.server import attach
from towpath.testing import drain


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        server.always = echo
        yield server


@pytest.fixture
def towpath(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TOWPATH_") and not name.startswith("TOWPATH_TEST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TOWPATH_CHAT_URL", "http://127.0.0.1:9/v1")  # only sending looks at it; `work` has one that answers
    return Commands(sqlite_url)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join([json.dumps(asks("a")), "{", json.dumps(asks("b"))]), "utf-8")
    return path


def work(sqlite_url: str, wire: WireServer) -> None:
    async def run() -> None:
        async with attach(App(sqlite_url, settings=Settings(chat_url=wire.url, chat_model="m"))) as app:
            await drain(app)

    asyncio.run(run())


def test_a_file_is_sent_watched_and_its_results_are_fetched(towpath: Commands, questions: Path, wire: WireServer):
    batch_id = towpath("batch", "complete", questions, "--model", "m").stdout.strip()
    assert towpath.json("batch", "status", batch_id)["status"] == "PENDING"
    assert "questions.jsonl" in towpath("batch", "list").stdout
    assert "no results yet" in towpath("batch", "results", batch_id, code=2).stderr
    work(towpath.url, wire)
    assert "COMPLETED" in towpath("batch", "watch", batch_id).stdout
    shown = towpath("batch", "status", batch_id).stdout
    assert "line 2: the line is no JSON" in shown
    assert "2 answered, 0 failed" in shown
    lines = [json.loads(line) for line in towpath("batch", "results", batch_id).stdout.splitlines()]
    assert [line["custom_id"] for line in lines] == ["a", None, "b"]
    towpath("batch", "results", batch_id, "--to", "answers.jsonl")
    assert len(Path("answers.jsonl").read_text("utf-8").splitlines()) == 3
    assert towpath.json("batch", "list", "--status", "failed") == []
    assert "nothing to retry" in towpath("batch", "retry", batch_id, code=2).stderr
    assert "nothing is being done" in towpath("batch", "cancel", batch_id).stdout


def test_one_that_was_stopped_is_asked_again(towpath: Commands, questions: Path, wire: WireServer):
    batch_id = towpath.json("batch", "complete", questions, "--model", "m")["id"]
    assert "cancelled" in towpath("batch", "cancel", batch_id).stdout
    assert "CANCELLED" in towpath("batch", "watch", batch_id, code=1).stdout
    again = towpath("batch", "retry", batch_id).stdout.strip()
    work(towpath.url, wire)
    assert towpath.json("batch", "status", again)["status"] == "COMPLETED"


def test_mistakes_are_told_in_a_line(towpath: Commands, questions: Path):
    assert "no provider is named 'NOBODY'" in towpath("batch", "complete", questions, "--provider", "NOBODY", code=2).stderr
    assert "name the models" in towpath("batch", "complete", questions, code=2).stderr
    assert "no batch has the id 'x'" in towpath("batch", "status", "x", code=2).stderr
    batch_id = towpath("batch", "complete", questions, "--model", "m").stdout.strip()
    assert "has no order 'x'" in towpath("batch", "adopt", batch_id, "x", "y", code=2).stderr
    assert "has no order 'x'" in towpath("batch", "resubmit", batch_id, "x", code=2).stderr


def test_a_batch_for_a_chat_service_that_is_not_there_is_not_taken(
    towpath: Commands, questions: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("TOWPATH_CHAT_URL")
    told = towpath("batch", "complete", questions, "--model", "m", code=2).stderr
    assert "LOCAL asks the chat service of the settings, and there is none" in told
    assert "TOWPATH_CHAT_URL" in told
    assert "no batches match" in towpath("batch", "list").stdout


def test_a_status_is_looked_for_beyond_the_first_page(towpath: Commands, questions: Path):
    stopped = towpath("batch", "complete", questions, "--model", "m").stdout.strip()
    towpath("batch", "cancel", stopped)
    for _ in range(3):
        towpath("batch", "complete", questions, "--model", "m")
    assert [one["id"] for one in towpath.json("batch", "list", "--status", "cancelled", "--limit", "2")] == [stopped]
    assert len(towpath.json("batch", "list", "--limit", "2")) == 2


def test_a_list_is_stored_and_asked_more_than_once(towpath: Commands, questions: Path, wire: WireServer):
    dataset = towpath("batch", "dataset", "add", questions, "--name", "Of the year").stdout.strip()
    assert [one["name"] for one in towpath.json("batch", "dataset", "list")] == ["Of the year"]
    assert "Of the year" in towpath("batch", "dataset", "list").stdout
    made = [towpath.json("batch", "complete", "--dataset", dataset, "--model", "m")["id"] for _ in range(2)]
    refused = towpath("batch", "dataset", "remove", dataset, code=2)
    assert f"the batch {made[1]} names it" in words(refused.stderr)
    assert "give a FILE, or a --dataset" in words(towpath("batch", "complete", "--model", "m", code=2).stderr)
    spare = towpath.json("batch", "dataset", "add", questions)["id"]
    assert towpath("batch", "dataset", "remove", spare).stdout.strip() == "removed"
    assert "no dataset has the id" in words(towpath("batch", "dataset", "remove", spare, code=2).stderr)


@on_sqlite
async def test_shards_are_counted_from_one_where_people_read_them(desk: Desk):
    found = await desk.finished([request(f"n{number}") for number in range(105)])
    assert [row["shard"] for row in found["provider_jobs"]] == [0, 1]
    towpath = Commands(desk.app.url)
    shown = (await asyncio.to_thread(towpath, "batch", "status", found["id"])).stdout
    orders = [line.split() for line in shown.splitlines() if "completed" in line and " m1 " in line]
    assert [order[order.index("m1") + 1] for order in orders] == ["1", "2"]
