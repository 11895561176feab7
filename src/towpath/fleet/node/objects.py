"""Objects come and go by signed URLs. A download that breaks is taken up where it ended, if it is certain that the same
object is still there, and what came is checked."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx

from towpath.fleet.messages import Failure, Output

_TRIES = 6
_PIECE = 1024 * 1024
_SAID = 2000
_MD5 = re.compile(r"[0-9a-f]{32}")


class Expired(Exception):
    """The URL opens nothing any more."""


class ObjectFailed(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class _Broken(Exception):
    """It may go on in a moment."""


def _failed(error_class: str, message: str, *, category: Any = "transient", kind: Any = "storage") -> ObjectFailed:
    return ObjectFailed(Failure(category=category, kind=kind, error_class=error_class, message=message))


class Objects:
    """`pause` is how long to wait before the n-th try."""

    def __init__(self, client: httpx.AsyncClient, pause: Callable[[int], float] = lambda tried: min(30.0, 0.5 * 2**tried)):
        self._client, self._pause = client, pause

    async def download(self, url: Callable[[], str], target: Path, size: int | None, etag: str) -> None:
        """`url` answers the latest one: it may be another one by the next try."""
        await asyncio.to_thread(target.unlink, missing_ok=True)
        said = ""
        for tried in range(_TRIES):
            try:
                headers = await self._some(url(), target, etag)
                await asyncio.to_thread(_check, target, size, etag, headers)
                return
            except _Broken as error:
                said = str(error)
                await asyncio.sleep(self._pause(tried))
        raise _failed("DownloadFailed", f"the object could not be fetched: {said}", kind="network")

    async def _some(self, url: str, target: Path, etag: str) -> Any:
        """What is still missing of it; what came stays if it breaks off."""
        have = await asyncio.to_thread(_size, target)
        asked = {"Accept-Encoding": "identity"}
        if etag:
            asked["If-Match"] = f'"{etag}"'
        if have:
            asked["Range"] = f"bytes={have}-"
        try:
            async with self._client.stream("GET", url, headers=asked) as answer:
                if answer.status_code == 416 and have:
                    return answer.headers  # there is no more of it
                _refuse(answer.status_code, "the object", await _said(answer))
                with target.open("ab" if answer.status_code == 206 else "wb") as file:
                    async for piece in answer.aiter_bytes(_PIECE):
                        await asyncio.to_thread(file.write, piece)
                return answer.headers
        except httpx.HTTPError as error:
            raise _Broken(type(error).__name__) from None

    async def upload(self, url: Callable[[], str], source: Path) -> Output:
        size, sha256 = await asyncio.to_thread(_described, source)
        said = ""
        for tried in range(_TRIES):
            try:
                await self._put(url(), source, size)
                return Output(size=size, sha256=sha256)
            except _Broken as error:
                said = str(error)
                await asyncio.sleep(self._pause(tried))
        raise _failed("UploadFailed", f"the result could not be stored: {said}")

    async def _put(self, url: str, source: Path, size: int) -> None:
        headers = {"Content-Length": str(size), "Content-Type": "application/octet-stream"}
        try:
            answer = await self._client.put(url, content=_pieces(source), headers=headers)
        except httpx.HTTPError as error:
            raise _Broken(type(error).__name__) from None
        _refuse(answer.status_code, "the place of the result", answer.content[:_SAID])


async def _said(answer: httpx.Response) -> bytes:
    """How a refusal begins."""
    if answer.status_code not in (400, 401, 403):
        return b""
    return (await answer.aread())[:_SAID]


def _refuse(status: int, what: str, said: bytes) -> None:
    if status < 300:
        return
    if b"xpired" in said:  # as S3 and its likes say it, and Azure
        raise Expired
    if status in (400, 401, 403):
        raise _failed("UrlRefused", f"{what} is refused to its URL, with status {status}")
    if status in (404, 410):
        raise _failed("ObjectGone", f"{what} is not there any more, or its link is closed")
    if status == 412:
        raise _failed("ObjectChanged", f"{what} has changed since the task was made", category="schema_invalid")
    if status == 413:
        raise _failed("ResultTooLarge", f"{what} takes no result that is so large", category="fatal")
    raise _Broken(f"it answered {status}")


def _check(target: Path, size: int | None, etag: str, headers: Any) -> None:
    have = target.stat().st_size
    if size is not None and have < size:
        raise _Broken(f"{have:,} of {size:,} bytes came")
    if size is not None and have > size:
        target.unlink()
        raise _Broken(f"{have:,} bytes came instead of {size:,}")
    if _is_md5(etag, headers) and _digest(target, "md5") != etag:
        target.unlink()
        raise _Broken("what came has another checksum than the object")


def _is_md5(etag: str, headers: Any) -> bool:
    """The ETag of an object in S3 is its MD5, unless it was put in parts or is encrypted with a key of its own."""
    if not _MD5.fullmatch(etag):
        return False
    is_amazons = "x-amz-request-id" in headers
    encrypted = headers.get("x-amz-server-side-encryption", "AES256") != "AES256"
    customer = "x-amz-server-side-encryption-customer-algorithm" in headers
    return is_amazons and not encrypted and not customer


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _described(path: Path) -> tuple[int, str]:
    return path.stat().st_size, _digest(path, "sha256")


def _digest(path: Path, kind: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


async def _pieces(source: Path) -> AsyncIterator[bytes]:
    with source.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece
