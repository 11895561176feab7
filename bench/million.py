"""What a batch of very many requests takes of memory: in the server that takes the file and hands the results out, and in
the worker that reads, orders and merges. The provider is in the worker's process, and remembers nothing."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bench.databases import Databases
from bench.measure import Progress
from bench.processes import ChildFailed, call, free_port, peak_memory, running
from bench.subjects.batches import MODEL, TENANT, lines, make_app, place, serve, worker
from tests.providers.streamed import StreamedProvider
from towpath.identity import accounts, tokens

_TUS = {"Tus-Resumable": "1.0.0"}
_UNDER_WAY = ("PENDING", "IN_PROGRESS")
_LOOK_EVERY = 0.2
_PIECE = 1024 * 1024


@dataclass(frozen=True)
class Peaks:
    """The most bytes that each process has held."""

    server: int
    worker: int


def peaks(databases: Databases, *, counts: tuple[int, int], progress: Progress) -> list[Peaks]:
    """After a batch of each of these sizes, by processes that have done nothing else."""
    found = []
    for count in counts:
        with place(databases) as (url, blobs):
            token = call("uvloop", _token, url, blobs)
            port = free_port()
            with running(serve, url, blobs, port=port) as server, worker(url, blobs, slots=2) as working:
                seconds = call("uvloop", _through, f"http://127.0.0.1:{port}/api", token, blobs / "input.jsonl", count)
                found.append(Peaks(peak_memory(server), peak_memory(working.pid)))
                progress(f"{count:,} requests, seconds", seconds)
                progress("MB held by the server", found[-1].server / 1e6)
                progress("MB held by the worker", found[-1].worker / 1e6)
    return found


async def _token(url: str, blobs: Path) -> str:
    async with make_app(url, blobs, serving=True) as app:
        account = await accounts.create(app.services.store, "bench", tenants=[TENANT], admin=True)
        secret, _ = await tokens.create(app.services.store, account, name="bench")
        return secret


async def _through(api: str, token: str, path: Path, count: int) -> float:
    """Uploads a file of so many requests, has them answered, and reads the results; answers how long that took."""
    with path.open("wb") as target:
        async for line in lines(count):
            target.write(line)
    began = asyncio.get_running_loop().time()
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=api, headers=headers, trust_env=False, timeout=600) as client:
        asked = {"provider": StreamedProvider.name, "models": [MODEL], "input": await _upload(client, path)}
        made = await client.post("/batches/completion", json=asked)
        batch = f"/batches/{_ok(made)['id']}"
        while (found := _ok(await client.get(batch)))["status"] in _UNDER_WAY:  # noqa: ASYNC110  (another process)
            await asyncio.sleep(_LOOK_EVERY)
        async with client.stream("GET", f"{batch}/results") as results:
            told = sum([piece.count(b"\n") async for piece in results.aiter_bytes()])
    if (found["ok"], told) != (count, count):
        raise ChildFailed(f"{told} of {count} requests came back, {found['ok']} of them answered: {found['error']}")
    return asyncio.get_running_loop().time() - began


async def _upload(client: httpx.AsyncClient, path: Path) -> str:
    said = {"filename": path.name, "purpose": "batch"}
    named = ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in said.items())
    size = str(path.stat().st_size)  # noqa: ASYNC240  (nobody else is on this loop)
    made = await client.post("/uploads", headers=_TUS | {"Upload-Length": size, "Upload-Metadata": named})
    place = f"/uploads/{made.headers['Location'].rsplit('/', 1)[1]}"
    sent = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream", "Content-Length": size}
    (await client.patch(place, headers=_TUS | sent, content=_pieces(path))).raise_for_status()
    while not (result := _ok(await client.get(place))["result"]):  # noqa: ASYNC110  (another process)
        await asyncio.sleep(_LOOK_EVERY)
    return str(result["asset_id"])


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as source:
        while piece := source.read(_PIECE):
            yield piece


def _ok(answer: httpx.Response) -> dict[str, Any]:
    if answer.is_error:
        raise ChildFailed(f"{answer.request.url} answered {answer.status_code}: {answer.text[:500]}")
    told: dict[str, Any] = answer.json()
    return told
