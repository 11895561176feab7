"""Assistants at a server's own address, with tokens of two tenants and of different scopes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.assistants.talking import over_http
from tests.products.documents.library import TEXT
from tests.server.api.live import Live, live_server, worker_on
from towpath import App, Settings
from towpath.server import ServerOptions, create_app, running

TOOLS = {
    "search", "read_passage", "read_page", "read_transcript", "list_documents", "ingest", "transcribe", "job_status",
    "cancel_job",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("assistants")


@pytest.fixture(scope="module")
def live(folder: Path) -> Iterator[Live]:
    """With a worker for documents."""
    with live_server(f"sqlite:///{folder}/jobs.db", folder) as live, worker_on(folder, "documents", "documents.care"):
        yield live


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_what_was_ingested_is_found_and_read_in_its_place(live: Live, mode: str):
    async with over_http(live.url, live.secrets["ann"], mode=mode) as ann:
        tools = {tool.name: tool for tool in (await ann.client.list_tools()).tools}
        assert set(tools) == TOOLS
        assert tools["search"].annotations.read_only_hint
        assert tools["cancel_job"].annotations.destructive_hint
        assert not tools["ingest"].annotations.read_only_hint
        made = await ann.does("ingest", text=TEXT, name="canal.md", wait_seconds=50)
        assert made["state"] == "succeeded"
        assert [one["status"] for one in made["documents"]] == ["COMPLETED"]
        [hit] = (await ann.does("search", query="Helen Brandt", how="words"))["results"]
        assert hit["document_id"] == made["documents"][0]["document_id"]
        place = await ann.does("read_passage", passage_id=hit["passage_id"])
        assert place["passage"]["text"] == hit["text"]
        page = await ann.does("read_page", document_id=hit["document_id"], page=hit["page"])
        assert "barges" in page["text"]
        assert [one["name"] for one in (await ann.does("list_documents"))["documents"]] == ["canal.md"]


async def test_long_work_answers_its_job_and_tells_how_far_it_is(live: Live):
    told: list[tuple[float, float | None, str | None]] = []

    async def heard(current: float, total: float | None, message: str | None) -> None:
        told.append((current, total, message))

    async with over_http(live.url, live.secrets["ann"]) as ann:
        begun = await ann.does("ingest", urls=["http://127.0.0.1:9/one.txt"], title="letters", wait_seconds=0)
        assert begun["run"]["title"] == "letters"
        asked = {"job_id": begun["job_id"], "wait_seconds": 1}
        result = await ann.client.call_tool("job_status", asked, progress_callback=heard)
        ended = dict(result.structured_content)
        if ended["state"] not in ("succeeded", "failed"):  # what is away may be there later: it is tried again
            assert ended["run"]["counts"]["FAILED"] == 0
            cancelled = await ann.does("cancel_job", job_id=begun["job_id"])
            assert cancelled["cancelled"] >= 1
            assert (await ann.does("job_status", job_id=begun["job_id"]))["state"] == "cancelled"
    assert told
    assert told[-1][2]


async def test_another_tenants_things_are_not_there(live: Live):
    async with over_http(live.url, live.secrets["ann"]) as ann, over_http(live.url, live.secrets["bob"]) as bob:
        made = await ann.does("ingest", text=TEXT + " Only ann knows.", name="secret.txt", wait_seconds=50)
        [hit, *_] = (await ann.does("search", query="Only ann knows", how="words"))["results"]
        assert (await bob.does("search", query="Only ann knows"))["results"] == []
        assert (await bob.does("list_documents"))["documents"] == []
        foreign: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
            ("read_passage", {"passage_id": hit["passage_id"]}, {"passage_id": "document/none/0"}),
            ("read_page", {"document_id": hit["document_id"]}, {"document_id": "none"}),
            ("job_status", {"job_id": made["job_id"]}, {"job_id": "00000000-0000-7000-8000-000000000000"}),
            ("cancel_job", {"job_id": made["job_id"]}, {"job_id": "00000000-0000-7000-8000-000000000000"}),
        ]
        for tool, of_ann, of_nobody in foreign:
            there = (await bob.refused(tool, **of_ann)).replace(str(next(iter(of_ann.values()))), "ID")
            nowhere = (await bob.refused(tool, **of_nobody)).replace(str(next(iter(of_nobody.values()))), "ID")
            assert there == nowhere
        assert "no recording" in await bob.refused("read_transcript", recording_id=hit["document_id"])


async def test_a_token_that_may_only_look_changes_nothing(live: Live):
    async with over_http(live.url, live.secrets["reader"]) as reader:
        assert (await reader.does("search", query="barges"))["next"] is None
        job = live.jobs[0]
        assert (await reader.does("job_status", job_id=job))["state"] == "succeeded"
        for tool, arguments in (
            ("ingest", {"urls": ["https://example.com/a"]}), ("ingest", {"text": "x", "name": "x"}),
            ("transcribe", {"urls": ["https://example.com/a.mp3"]}), ("cancel_job", {"job_id": live.jobs[-1]}),
        ):  # fmt: skip
            assert "this needs the scope 'write'" in await reader.refused(tool, **arguments)


async def test_mistakes_are_told_so_that_an_assistant_can_mend_them(live: Live):
    async with over_http(live.url, live.secrets["ann"]) as ann:
        assert await ann.refused("find") == f"there is no tool 'find'; there are {', '.join(await names(ann))}"
        assert "query: Field required" in await ann.refused("search")
        assert "words: Extra inputs are not permitted" in await ann.refused("search", query="x", words=True)
        assert "give one of urls, text and files, got none" in await ann.refused("ingest")
        assert "give the text a name" in await ann.refused("ingest", text="x")
        assert "these folders only: none" in await ann.refused("ingest", files=["/etc/passwd"])
        assert "these folders only: none" in await ann.refused("transcribe", file="/etc/passwd")
        assert "an address begins with https://" in str(await ann.does("ingest", urls=["gopher://x/y"], wait_seconds=50))
        assert "an entity is its type and its key" in await ann.refused("search", query="x", entity="nobody")


async def names(assistant: Any) -> list[str]:
    return [tool.name for tool in (await assistant.client.list_tools()).tools]


ASKED = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
SPOKEN = {"Accept": "application/json, text/event-stream"}


def test_nobody_speaks_without_a_token_and_no_page_of_another_site_even_with_one(live: Live):
    def ask(**headers: str) -> httpx.Response:
        return httpx.post(f"{live.url}/mcp", json=ASKED, headers=SPOKEN | headers)

    assert ask().status_code == 401
    assert ask(Authorization="Bearer tow_wrong").status_code == 401
    token = {"Authorization": f"Bearer {live.secrets['ann']}"}
    assert ask(**token).status_code == 200
    assert ask(**token, Origin=live.url).status_code == 200
    foreign = ask(**token, Origin="https://evil.example")
    assert foreign.status_code == 403
    assert foreign.json()["type"] == "/problems/csrf"
    assert ask(**token, Origin="null").status_code == 403
    assert httpx.get(f"{live.url}/mcp", headers=SPOKEN | token).status_code == 405
    assert httpx.post(f"{live.url}/mcp", content="{", headers=SPOKEN | token).status_code == 415


async def test_a_server_on_loopback_is_not_reached_under_another_name(tmp_path: Path):
    """A page whose name was bound to 127.0.0.1 after it had been loaded: its requests bear that name as Host and Origin."""
    api = create_app(App(f"sqlite:///{tmp_path}/jobs.db", settings=Settings()), ServerOptions(local=True))
    transport = httpx.ASGITransport(api, client=("127.0.0.1", 5000))
    async with running(api), httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8642") as page:
        rebound = {"Host": "evil.example:8642", "Origin": "http://evil.example:8642", "Authorization": "Bearer tow_guessed"}
        answer = await page.post("/mcp", json=ASKED, headers=SPOKEN | rebound)
        assert answer.status_code == 400
        assert "does not answer to the name" in answer.json()["detail"]
        assert (await page.post("/mcp", json=ASKED, headers=SPOKEN)).status_code == 401
