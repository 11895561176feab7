"""The API as tools see it: questions and answers, and refusals in words that an assistant can act on."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

_PIECE = 1024 * 1024
_ASK_AGAIN = 0.2


class Refused(Exception):
    """What was asked for was not done. The message is for the assistant: what happened, and what to do."""


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """Folders on the assistant's own machine from which it may send files. None at all, unless somebody has named some."""

    folders: tuple[Path, ...] = ()

    def checked(self, name: str) -> Path:
        """The file behind a name, which may be one in a folder. Links are followed: what lies outside is not there."""
        path = Path(name).expanduser()
        meant = [path.resolve(), *((folder / path).resolve() for folder in self.folders)]
        inside = [one for one in meant if any(one.is_relative_to(folder.resolve()) for folder in self.folders)]
        if not inside:
            named = ", ".join(str(folder) for folder in self.folders) or "none"
            raise Refused(
                f"files may be sent from these folders only: {named}; whoever set this up can add one with --files DIR"
            )
        found = next((one for one in inside if one.is_file()), None)
        if found is None:
            raise Refused(f"there is no file {name}")
        return found


class Api:
    """Asks over `client`, which carries the token."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def get(self, path: str, **params: Any) -> dict[str, Any]:
        given = {name: value for name, value in params.items() if value is not None}
        return dict((await self._asked("GET", path, params=given)).json())

    async def post(self, path: str, body: Any = None) -> dict[str, Any]:
        return dict((await self._asked("POST", path, json={} if body is None else body)).json())

    async def upload(self, name: str, content: bytes | Path, purpose: str, **options: str) -> dict[str, Any]:
        """Sends a file; answers what was made of it."""
        size = len(content) if isinstance(content, bytes) else (await asyncio.to_thread(content.stat)).st_size
        if not size:
            raise Refused(f"{name} is empty")
        fields = {"filename": name, "purpose": purpose} | options
        headers = {
            "Tus-Resumable": "1.0.0", "Upload-Length": str(size), "Content-Type": "application/offset+octet-stream",
            "Upload-Metadata": ",".join(f"{name} {_in_base64(value)}" for name, value in fields.items()),
        }  # fmt: skip
        body = content if isinstance(content, bytes) else _pieces(content)
        made = await self._asked("POST", "/api/uploads", headers=headers, content=body)
        upload_id = made.headers["location"].rpartition("/")[2]
        while True:
            upload = await self.get(f"/api/uploads/{upload_id}")
            if upload["error"]:
                raise Refused(_words(upload["error"]["detail"], upload["error"]["remedy"]))
            if upload["result"]:
                return dict(upload["result"])
            await asyncio.sleep(_ASK_AGAIN)

    async def _asked(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            answer = await self._client.request(method, path, **options)
        except httpx.HTTPError as error:
            raise Refused(f"the server does not answer: {str(error) or type(error).__name__}") from None
        if answer.is_success:
            return answer
        raise Refused(_told(answer))


def _in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _told(answer: httpx.Response) -> str:
    try:
        problem = answer.json()
        errors = [
            f"{one['path']}: {one['message']}"
            for one in problem.get("errors") or ()
            if one["message"] not in problem["detail"]
        ]
        return _words("; ".join([str(problem["detail"]), *errors]), problem.get("remedy"))
    except (ValueError, KeyError, TypeError):
        return f"the server answered {answer.status_code} and nothing that could be read"


def _words(detail: str, remedy: str | None) -> str:
    return f"{detail}; {remedy}" if remedy else detail


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as source:
        while piece := await asyncio.to_thread(source.read, _PIECE):
            yield piece
