"""Uploads outlive the server they were sent to."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.assets import media
from tests.assets.tus import begun, offset_of, send

DATA = media.sound("wav", 20.0)


@contextmanager
def process(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    running = subprocess.Popen([sys.executable, "-m", "tests.assets.killable", str(folder), str(port), *words])
    try:
        yield running, f"http://127.0.0.1:{port}"
    finally:
        running.kill()
        running.wait(20)


@asynccontextmanager
async def server(folder: Path, *words: str) -> AsyncIterator[tuple[subprocess.Popen[bytes], httpx.AsyncClient]]:
    with process(folder, *words) as (running, url):
        async with httpx.AsyncClient(base_url=url, timeout=30) as client, asyncio.timeout(90):
            while True:
                try:
                    assert (await client.get("/healthz")).status_code == 200
                    break
                except httpx.TransportError:
                    await asyncio.sleep(0.05)
            client.headers["Authorization"] = f"Bearer {(folder / 'token').read_text()}"
            yield running, client


async def until_done(client: httpx.AsyncClient, where: str) -> dict[str, Any]:
    while (shown := (await client.get(where)).json())["state"] != "done":  # noqa: ASYNC110  (another process does it)
        await asyncio.sleep(0.05)
    return shown


async def test_an_upload_outlives_a_server_killed_in_its_middle_and_one_killed_at_its_end(tmp_path: Path):
    async with server(tmp_path) as (running, client):
        where = await begun(client, len(DATA))

        async def dying() -> Any:
            yield DATA[:250_000]
            while await offset_of(client, where) < 200_000:  # noqa: ASYNC110  (another process writes them)
                await asyncio.sleep(0.02)
            running.kill()
            while True:  # until the connection is found to be broken
                yield bytes(50_000)
                await asyncio.sleep(0.01)

        with pytest.raises(httpx.TransportError):
            await send(client, where, 0, dying())
    async with server(tmp_path, "assembling") as (running, client):
        offset = await offset_of(client, where)
        assert offset == 200_000
        with pytest.raises(httpx.TransportError):
            await send(client, where, offset, DATA[offset:])
        assert running.wait(20) == -9
    async with server(tmp_path) as (_, client):
        shown = await until_done(client, where)
        assert shown["result"] == {"id": f"note-{shown['id']}"}
        assert (await client.get(f"/api/assets/{shown['id']}/content")).content == DATA


@pytest.mark.parametrize("stage", ["receiving", "received"])
async def test_an_upload_is_handed_over_by_the_next_server_wherever_the_last_one_was_killed(tmp_path: Path, stage: str):
    async with server(tmp_path, stage) as (running, client):
        where = await begun(client, len(DATA))
        with pytest.raises(httpx.TransportError):
            await send(client, where, 0, DATA)
        assert running.wait(20) == -9
    async with server(tmp_path) as (_, client):
        shown = await until_done(client, where)
        assert shown["result"] == {"id": f"note-{shown['id']}"}
        assert (await client.get(f"/api/assets/{shown['id']}/content")).content == DATA
        assert not list((tmp_path / "blobs").rglob("parts/*"))


async def test_a_form_that_has_come_is_a_recording_also_if_the_server_is_killed_before_it_answers(tmp_path: Path):
    async with server(tmp_path, "assembling") as (running, client):
        with pytest.raises(httpx.TransportError):
            await client.post("/upload", files={"file": ("talk.wav", DATA)})
        assert running.wait(20) == -9
    async with server(tmp_path) as (_, client):
        while not (found := (await client.get("/api/recordings")).json()["items"]):  # noqa: ASYNC110  (another process does it)
            await asyncio.sleep(0.05)
        assert [(one["file_name"], one["status"]) for one in found] == [("talk.wav", "PENDING")]
        assert (await client.get(f"/api/recordings/{found[0]['id']}/audio")).content == DATA
