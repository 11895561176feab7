"""Files transcribed by a server, over its API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from towpath.cli.transcribing.place import FileOptions, Look, Told, look_at
from towpath.core.errors import ConfigurationError, Fatal, TowpathError

if TYPE_CHECKING:
    import httpx

_NOT_LOGGED_IN = 401
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

    async def export(self, recording_id: str, wanted: str) -> str:
        return (await self._ask("GET", f"/api/recordings/{recording_id}/export", params={"format": wanted})).text

    async def _ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        import httpx

        try:
            answer = await self._client.request(method, path, **options)
        except httpx.HTTPError as error:
            raise ConfigurationError(
                f"the server at {self._client.base_url} does not answer: {str(error) or type(error).__name__}"
            ) from None
        if answer.is_success:
            return answer
        raise _refusal(answer)


def _fields(wishes: FileOptions) -> dict[str, str]:
    fields = {"auto_summary": str(wishes.summary).lower(), "speakers": str(wishes.speakers).lower()}
    return fields | ({"language": wishes.language} if wishes.language else {})


def _refusal(answer: httpx.Response) -> TowpathError:
    if answer.status_code == _NOT_LOGGED_IN:
        return _no_way_in(answer)
    try:
        problem = answer.json()
        return Fatal(str(problem["detail"]), remedy=problem.get("remedy"))
    except (ValueError, KeyError, TypeError):
        return Fatal(f"the server answered {answer.status_code} and nothing that could be read")


def _no_way_in(answer: httpx.Response) -> TowpathError:
    """The server speaks of headers; whoever runs a command has an option."""
    remedy = "make one in the UI under Settings, or there with: towpath token create"
    if "authorization" in answer.request.headers:
        message = "does not accept this --token: it has ended or is misspelt"
    else:
        message = "asks for an API token; give it with --token TOKEN"
    return Fatal(f"the server at {answer.url.host} {message}", remedy=remedy)


def _look(recording: dict[str, Any]) -> Look:
    job, told = recording["job"], None
    if job is not None:
        progress = (job["progress"]["current"], job["progress"]["total"]) if job["progress"] else None
        told = Told(job["queue_type"], progress, job["waiting_for"], job["error_remedy"])
    return look_at(recording["status"], recording["duration"], recording["warning"], recording["error"], told)


@asynccontextmanager
async def on_server(url: str, token: str | None) -> AsyncIterator[OnServer]:
    try:
        import httpx
    except ImportError:
        missing = "asking a server needs httpx, which is not installed: pip install 'towpath[server]'"
        raise ConfigurationError(missing) from None
    if not url.startswith(("http://", "https://")):
        raise ConfigurationError(f"--server takes a URL such as http://localhost:8642, got {url!r}")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    limits = httpx.Timeout(60.0, read=300.0, write=300.0)
    async with httpx.AsyncClient(base_url=url.rstrip("/"), headers=headers, timeout=limits) as client:
        yield OnServer(client)
