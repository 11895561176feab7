"""Documents read by a server, over its API."""

from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from towpath.cli.asking import Refused, ServerAway, ask, server_at
from towpath.cli.ingesting.place import Shape
from towpath.core.errors import Fatal

if TYPE_CHECKING:
    import httpx

_PIECE = 1024 * 1024
_TRIES = 5
_REST = 1.0
_ASK_AGAIN = 0.5
_TUS = {"Tus-Resumable": "1.0.0"}
_GONE = (404, 409)


class OnServer:
    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    def source_of(self, path: Path) -> str:
        """Two machines may have different files in one place."""
        return f"{socket.gethostname()}:{path.absolute()}"

    async def known(self, asked: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> list[Shape | None]:
        body = {"items": list(asked), "settings": dict(settings)}
        found: list[Shape | None] = (await self._ask("POST", "/api/documents/known", json=body)).json()["items"]
        return found

    async def upload(self, path: Path) -> str:
        """What has arrived stays there when the connection breaks; it goes on from where it was."""
        size = await asyncio.to_thread(lambda: path.stat().st_size)
        headers = _TUS | {"Upload-Length": str(size), "Upload-Metadata": _metadata(filename=path.name, purpose="document")}
        made = await self._ask("POST", "/api/uploads", headers=headers)
        upload_id = made.headers["location"].rpartition("/")[2]
        await self._send(upload_id, path, size)
        return await self._handed_over(upload_id)

    async def _send(self, upload_id: str, path: Path, size: int) -> None:
        offset, failures = 0, 0
        while offset < size:
            try:
                offset = await self._append(upload_id, path, offset)
                failures = 0
            except ServerAway:
                failures += 1
                if failures >= _TRIES:
                    raise
                await asyncio.sleep(_REST * failures)
                with suppress(ServerAway):
                    offset = await self._arrived(upload_id)

    async def _append(self, upload_id: str, path: Path, offset: int) -> int:
        headers = _TUS | {"Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
        answer = await self._ask("PATCH", f"/api/uploads/{upload_id}", headers=headers, content=_pieces(path, offset))
        return int(answer.headers["upload-offset"])

    async def _arrived(self, upload_id: str) -> int:
        return int((await self._ask("HEAD", f"/api/uploads/{upload_id}", headers=_TUS)).headers["upload-offset"])

    async def _handed_over(self, upload_id: str) -> str:
        while True:
            upload = (await self._ask("GET", f"/api/uploads/{upload_id}")).json()
            if upload["error"]:
                raise Fatal(upload["error"]["detail"], remedy=upload["error"]["remedy"])
            if upload["result"]:
                return str(upload["result"]["asset_id"])
            await asyncio.sleep(_ASK_AGAIN)

    async def begin(
        self, kind: str, items: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], title: str | None
    ) -> str:
        body = {"kind": kind, "items": list(items), "settings": dict(settings), "title": title}
        return str((await self._ask("POST", "/api/documents/runs", json=body)).json()["id"])

    async def retry(self, run_id: str, item_ids: Sequence[str]) -> set[str]:
        try:
            asked = {"items": list(item_ids)}
            done = (await self._ask("POST", f"/api/documents/runs/{run_id}/retry", json=asked)).json()
        except Refused as error:
            if error.status in _GONE:
                return set(item_ids)
            raise
        return set(done["refused"])

    async def run(self, run_id: str) -> Shape:
        found: Shape = (await self._ask("GET", f"/api/documents/runs/{run_id}")).json()
        return found

    async def items(self, run_id: str, after: int, limit: int) -> list[Shape]:
        asked = {"after": after, "limit": limit}
        found: list[Shape] = (await self._ask("GET", f"/api/documents/runs/{run_id}/items", params=asked)).json()["items"]
        return found

    async def _ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        return await ask(self._client, method, path, **options)


def _metadata(**fields: str) -> str:
    return ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in fields.items())


async def _pieces(path: Path, offset: int) -> AsyncIterator[bytes]:
    with path.open("rb") as source:
        source.seek(offset)
        while piece := await asyncio.to_thread(source.read, _PIECE):
            yield piece


@asynccontextmanager
async def on_server(url: str, token: str | None) -> AsyncIterator[OnServer]:
    async with server_at(url, token) as client:
        yield OnServer(client)
