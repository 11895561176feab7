"""towpath mcp as assistants start it: on a data directory of its own, and as a line to a server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.assistants.talking import Assistant, at_a_process, over_http
from tests.cli.commands import Commands, words
from tests.products.documents.library import TEXT
from tests.products.recordings.media import encoded, speech
from tests.server.api.live import Live, live_server, worker_on


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The files of a folder, over HTTP."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def test_a_directory_of_its_own_is_filled_searched_and_listened_to(tmp_path: Path):
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "canal.txt").write_text(TEXT)
    (shared / "talk.mp3").write_bytes(encoded(speech("clone-test"), "mp3"))
    (tmp_path / "private.txt").write_text("nobody's business")
    (shared / "way-out.txt").symlink_to(tmp_path / "private.txt")
    with served(shared) as address:
        async with at_a_process("--files", str(shared), folder=tmp_path, TOWPATH_ALLOW_PRIVATE_URLS="true") as assistant:
            made = await assistant.does("ingest", files=["canal.txt"], wait_seconds=50)
            assert [one["status"] for one in made["documents"]] == ["COMPLETED"]
            for outside in (
                "../private.txt",
                "way-out.txt",
                str(tmp_path / "private.txt"),
                str(shared / "way-out.txt"),
                "/etc/passwd",
            ):
                assert "these folders only" in await assistant.refused("ingest", files=[outside])
            heard = await assistant.does("transcribe", file=str(shared / "talk.mp3"), wait_seconds=50)
            assert heard["recording"]["status"] == "COMPLETED"
            lines = (await assistant.does("read_transcript", recording_id=heard["recording_id"]))["lines"]
            assert lines[0]["text"].strip()
            there = await assistant.does("transcribe", urls=[f"{address}/talk.mp3"], wait_seconds=50)
            assert there["batch"]["status"] == "COMPLETED"
            assert there["results"][0]["text"].strip()
            [hit] = (await assistant.does("search", query="Helen Brandt", how="words"))["results"]
            assert hit["title"] == "canal.txt"
    assert (tmp_path / "towpath-data/towpath.db").exists()


async def test_a_server_is_spoken_to_with_a_token_out_of_a_file(tmp_path: Path):
    async with AsyncExitStack() as stack:
        with live_server(f"sqlite:///{tmp_path}/jobs.db", tmp_path) as live, worker_on(tmp_path, "documents"):
            (tmp_path / "token").write_text(live.secrets["reader"] + "\n")
            given = ("--server", live.url, "--token-file", "token")
            reader = await stack.enter_async_context(at_a_process(*given, folder=tmp_path))
            [hit] = (await found_by(live, reader))["results"]
            assert hit["text"] in (await reader.does("read_page", document_id=hit["document_id"]))["text"]
            assert "needs the scope 'write'" in await reader.refused("ingest", text="x", name="x")
        assert "the server does not answer" in await reader.refused("search", query="x")
    assert not (tmp_path / "towpath-data").exists()


async def found_by(live: Live, reader: Assistant) -> dict[str, Any]:
    async with over_http(live.url, live.secrets["ann"]) as ann:
        await ann.does("ingest", text=TEXT, name="canal.txt", wait_seconds=50)
    return await reader.does("search", query="Brandt", how="words")


def test_mistakes_are_told_before_anybody_speaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "token").touch()
    towpath = Commands("sqlite:///unused.db")
    assert "name two tokens" in words(
        towpath("mcp", "--server", "http://x", "--token", "a", "--token-file", "token", code=2).stderr
    )
    assert "--token is for --server" in words(towpath("mcp", "--token", "a", code=2).stderr)
    assert "name two places" in words(towpath("mcp", "--server", "http://x", "--data", "d", code=2).stderr)
