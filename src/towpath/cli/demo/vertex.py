"""Vertex AI works in a bucket of its users. Here that is the Cloud Storage which comes with its simulator."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import httpx

from towpath.core.errors import Transient
from towpath.providers import Files, Order, Prepared
from towpath.providers.simulator.cloud_storage import PREFIX
from towpath.providers.vertex import Vertex

_FOLDER = "gs://demonstration/batches/"


class InOneFolder(Vertex):
    """Batches name no folder for their results; all of them get this one."""

    async def check(self, order: Order | None = None) -> None:
        await super().check(None if order is None else replace(order, output=_FOLDER))

    async def prepare(self, order: Order, files: Files) -> Prepared:
        return await super().prepare(replace(order, output=_FOLDER), files)


class ObjectsOfVertex:
    """A `Bucket` over the simulator's Cloud Storage."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url, token

    async def _ask(self, method: str, path: str, **more: Any) -> bytes:
        headers = {"authorization": f"Bearer {self._token}"}
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.request(method, f"{self._url}{PREFIX}/{path}", headers=headers, **more)
        if answer.status_code == httpx.codes.NOT_FOUND and method == "DELETE":
            return b""
        if answer.is_error:
            raise Transient(f"the bucket answered {answer.status_code}")
        return answer.content

    async def open(self, uri: str) -> AsyncGenerator[bytes, None]:
        yield await self._ask("GET", _path(uri))

    async def write(self, uri: str, chunks: AsyncIterable[bytes]) -> None:
        await self._ask("PUT", _path(uri), content=b"".join([chunk async for chunk in chunks]))

    async def list(self, folder: str) -> AsyncGenerator[str, None]:
        bucket, _, prefix = folder.removeprefix("gs://").partition("/")
        found = ElementTree.fromstring(await self._ask("GET", bucket, params={"prefix": prefix}))
        for name in found.iter("Key"):
            yield f"gs://{bucket}/{name.text}"

    async def delete(self, uri: str) -> None:
        await self._ask("DELETE", _path(uri))


def _path(uri: str) -> str:
    return quote(uri.removeprefix("gs://"))
