"""Objects come and go by signed URLs. A download that breaks is taken up where it ended, if it is certain that the same
object is still there, and what came is checked."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
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


def _changed(what: str) -> ObjectFailed:
    return _failed("ObjectChanged", f"{what} has changed since the task was made", category="schema_invalid")


@dataclass(frozen=True, slots=True)
class Described:
    """What is known of an object beforehand."""

    size: int | None = None
    etag: str = ""
    sha256: str | None = None


class _Got:
    """What has come of an object so far. It is gone on with only if it is certain that the same object is still there:
    by the ETag that was told beforehand, or else by the one that came with the first part."""

    def __init__(self, target: Path, wanted: Described) -> None:
        self.target, self.wanted = target, wanted
        self.has = 0
        self._etag = wanted.etag

    def begin_anew(self) -> None:
        self.target.unlink(missing_ok=True)
        self.has, self._etag = 0, self.wanted.etag

    def asked(self) -> dict[str, str]:
        """The headers of the next request."""
        self.has = self.target.stat().st_size if self.target.exists() else 0
        if self.has and not self._etag:
            self.begin_anew()
        headers = {"Accept-Encoding": "identity"}
        if self._etag:
            headers["If-Match"] = f'"{self._etag}"'
        if self.has:
            headers["Range"] = f"bytes={self.has}-"
        return headers

    def agree(self, status: int, headers: Any) -> None:
        """Not every server looks at If-Match, or answers the range that it was asked for."""
        told = headers.get("etag", "")
        etag = "" if told.startswith("W/") else told.strip('"')
        if self._etag and etag and etag != self._etag:
            self.begin_anew()
            if self.wanted.etag:
                raise _changed("the object")
            raise _Broken("the object was replaced while it was fetched")
        if status == 206 and not headers.get("content-range", "").startswith(f"bytes {self.has}-"):
            self.begin_anew()
            raise _Broken("another part of the object came than the one that was asked for")
        self._etag = self._etag or etag

    def check(self, headers: Any) -> None:
        have, size = self.target.stat().st_size, self.wanted.size
        if size is not None and have < size:
            raise _Broken(f"{have:,} of {size:,} bytes came")
        if size is not None and have > size:
            self.begin_anew()
            raise _Broken(f"{have:,} bytes came instead of {size:,}")
        for kind, sum_ in (("sha256", self.wanted.sha256), ("md5", _md5_of(self.wanted.etag, headers))):
            if sum_ and _digest(self.target, kind) != sum_:
                self.begin_anew()
                raise _Broken("what came has another checksum than the object")


class Objects:
    """`pause` is how long to wait before the n-th try."""

    def __init__(self, client: httpx.AsyncClient, pause: Callable[[int], float] = lambda tried: min(30.0, 0.5 * 2**tried)):
        self._client, self._pause = client, pause

    async def download(self, url: Callable[[], str], target: Path, wanted: Described) -> None:
        """`url` answers the latest one: it may be another one by the next try."""
        got = _Got(target, wanted)
        await asyncio.to_thread(got.begin_anew)
        said = ""
        for tried in range(_TRIES):
            try:
                headers = await self._some(url(), got)
                await asyncio.to_thread(got.check, headers)
                return
            except _Broken as error:
                said = str(error)
                await asyncio.sleep(self._pause(tried))
        raise _failed("DownloadFailed", f"the object could not be fetched: {said}", kind="network")

    async def _some(self, url: str, got: _Got) -> Any:
        """What is still missing of it; what came stays if it breaks off."""
        try:
            async with self._client.stream("GET", url, headers=await asyncio.to_thread(got.asked)) as answer:
                status = answer.status_code
                if status == 416 and got.has:
                    return answer.headers  # there is no more of it
                if status == 412 and not got.wanted.etag:
                    got.begin_anew()
                    raise _Broken("the object was replaced while it was fetched")
                _refuse(status, "the object", await _said(answer))
                got.agree(status, answer.headers)
                with got.target.open("ab" if status == 206 else "wb") as file:
                    # As it comes, and as it is stored: what waits to become a larger piece is lost if the connection breaks.
                    async for piece in answer.aiter_raw():
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
        raise _changed(what)
    if status == 413:
        raise _failed("ResultTooLarge", f"{what} takes no result that is so large", category="fatal")
    raise _Broken(f"it answered {status}")


def _md5_of(etag: str, headers: Any) -> str | None:
    """The ETag of an object in S3 is its MD5, unless it was put in parts or is encrypted with a key of its own."""
    is_amazons = "x-amz-request-id" in headers
    encrypted = headers.get("x-amz-server-side-encryption", "AES256") != "AES256"
    customer = "x-amz-server-side-encryption-customer-algorithm" in headers
    return etag if _MD5.fullmatch(etag) and is_amazons and not encrypted and not customer else None


def _described(path: Path) -> tuple[int, str]:
    return path.stat().st_size, _digest(path, "sha256")


def _digest(path: Path, kind: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


async def _pieces(source: Path) -> AsyncIterator[bytes]:
    with source.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece
