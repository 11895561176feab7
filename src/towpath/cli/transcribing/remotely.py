"""Files transcribed by a server, over its API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from towpath.cli.asking import ask, server_at
from towpath.cli.transcribing.place import FileOptions, Look, Told, look_at
from towpath.core.errors import Fatal

if TYPE_CHECKING:
    import httpx

_ASK_AGAIN = 2.0


class OnServer:
    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def find(self, digest: str, wishes: FileOptions) -> str | None:
        asked = _fields(wishes) | {"sha256": digest}
        found = (await self._ask("GET", "/api/recordings/alike", params=asked)).json()["recording"]
        return str(found["id"]) if found else None

    async def take_up(self, recording_id: str) -> None:
        if (await self.look([recording_id]))[recording_id].status in ("FAILED", "CANCELLED"):
            wanted = {"action": "retry", "ids": [recording_id]}
            refused = (await self._ask("POST", "/api/recordings/bulk", json=wanted)).json()["refused"]
            if recording_id in refused:
                raise Fatal(refused[recording_id])

    async def send(self, path: Path, wishes: FileOptions) -> str:
        fields = _fields(wishes)
        with path.open("rb") as source:
            taken = (await self._ask("POST", "/upload", data=fields, files={"file": (path.name, source)})).json()
        return str(taken["id"] or await self._made_of(taken["upload_id"]))

    async def _made_of(self, upload_id: str) -> str:
        """The recording of an upload, once it has been made: the server has the file, and nobody there has got to it yet."""
        while True:
            upload = (await self._ask("GET", f"/api/uploads/{upload_id}")).json()
            if upload["error"]:
                raise Fatal(upload["error"]["detail"], remedy=upload["error"]["remedy"])
            if upload["result"]:
                return str(upload["result"]["id"])
            await asyncio.sleep(_ASK_AGAIN)

    async def look(self, ids: list[str]) -> dict[str, Look]:
        return {one: _look((await self._ask("GET", f"/api/recordings/{one}")).json()) for one in ids}

    async def export(self, recording_id: str, wanted: str) -> bytes:
        return (await self._ask("GET", f"/api/recordings/{recording_id}/export", params={"format": wanted})).content

    async def _ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        return await ask(self._client, method, path, **options)


def _fields(wishes: FileOptions) -> dict[str, str]:
    fields = {"auto_summary": str(wishes.summary).lower(), "speakers": str(wishes.speakers).lower()}
    chosen = {"language": wishes.language, "model": wishes.model}
    return fields | {name: value for name, value in chosen.items() if value}


def _look(recording: dict[str, Any]) -> Look:
    job, told = recording["job"], None
    if job is not None:
        progress = (job["progress"]["current"], job["progress"]["total"]) if job["progress"] else None
        told = Told(job["queue_type"], progress, job["waiting_for"], job["error_remedy"])
    return look_at(recording["status"], recording["duration"], recording["warning"], recording["error"], told)


@asynccontextmanager
async def on_server(url: str, token: str | None) -> AsyncIterator[OnServer]:
    async with server_at(url, token) as client:
        yield OnServer(client)
