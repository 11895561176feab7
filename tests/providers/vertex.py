"""Vertex AI for the contract suite, with a Cloud Storage that obstore speaks to.

What it cannot have:
- expired_url: results are objects of one's own bucket; there are no links.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import replace

import obstore
from google.oauth2.credentials import Credentials
from obstore.store import GCSStore

from tests.providers import google_library as _first  # noqa: F401 (before what it says)
from tests.providers.cases import MemoryFiles, completion
from towpath.providers import Order, Provider
from towpath.providers.simulator import Simulator
from towpath.providers.simulator.cloud_storage import PREFIX
from towpath.providers.simulator.vertex import TOKEN, VertexSimulator
from towpath.providers.vertex import Vertex

OUTPUT = "gs://our-bucket/batches/"


class GoogleBucket:
    """A `Bucket` as the engine would make one of the library for object stores."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}{PREFIX}"

    def _at(self, uri: str) -> tuple[GCSStore, str]:
        bucket, _, name = uri.removeprefix("gs://").partition("/")
        config = {"base_url": self._url, "bearer_token": TOKEN}
        options = {"allow_http": True}
        return GCSStore(bucket, config=config, client_options=options, retry_config={"max_retries": 0}), name

    async def open(self, uri: str) -> AsyncGenerator[bytes, None]:
        found = await obstore.get_async(*self._at(uri))
        async for chunk in found.stream():
            yield bytes(chunk)

    async def write(self, uri: str, chunks: AsyncIterable[bytes]) -> None:
        await obstore.put_async(*self._at(uri), aiter(chunks))

    async def list(self, folder: str) -> AsyncGenerator[str, None]:
        store, prefix = self._at(folder)
        root = folder.removesuffix(prefix)
        async for page in obstore.list(store, prefix):
            for entry in page:
                yield root + entry["path"]

    async def delete(self, uri: str) -> None:
        try:
            await obstore.delete_async(*self._at(uri))
        except FileNotFoundError:
            return


def simulator() -> Simulator:
    return VertexSimulator()


def adapter(simulator: Simulator) -> Provider:
    return Vertex(
        project="our-project",
        location="europe-west4",
        credentials=Credentials(token=TOKEN),
        base_url=simulator.url,
        bucket=GoogleBucket(simulator.url),
    )


def order(files: MemoryFiles, key: str, count: int) -> Order:
    made = completion(
        files,
        key,
        count,
        "gemini-3.8-flash",
        lambda number: {"messages": [{"role": "user", "content": f"question {number}"}], "max_tokens": 64},
    )
    return replace(made, output=OUTPUT)
