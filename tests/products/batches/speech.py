"""Transcriptions as tests see them: each provider's real library against its simulator, and people who send inputs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import asyncpg
from starlette.applications import Starlette

from tests.products.batches.desk import Desk, opened_desk
from tests.server.api.site import ok
from towpath import App, Settings, assets
from towpath.providers.simulator import Simulator, served
from towpath.providers.simulator.cloud_storage import PREFIX, CloudStorage

TOKEN = "token-of-the-bucket"
WAVE = b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00" + bytes(64)


@dataclass(frozen=True)
class Speech:
    """One provider, and addresses that it reads by itself; none if it is sent files."""

    name: str
    scheme: str
    options: dict[str, Any]
    limit: int

    def address(self, name: str) -> str:
        return {"https": f"https://93.184.216.34/{name}?sig=abc", "s3": f"s3://inputs/{name}", "gs": f"gs://inputs/{name}"}[
            self.scheme
        ]


AZURE = Speech("AZURE", "https", {"locale": "en-US"}, 1000)
AWS = Speech("AWS", "s3", {"locale": "en-US"}, 1)
GOOGLE = Speech("GOOGLE", "gs", {"locale": "en-US"}, 15)
SARVAM = Speech("SARVAM", "", {"locale": "en-IN"}, 20)
PROVIDERS = (AZURE, AWS, GOOGLE, SARVAM)


class SpeechDesk(Desk):
    simulator: Simulator
    speech: Speech

    async def upload(self, name: str = "talk.wav", content: bytes = WAVE, tenant: str = "north") -> str:
        async def pieces() -> AsyncIterator[bytes]:
            yield content

        return (await assets.receive(self.app, tenant, name, pieces(), kinds=None, created_by=None)).id

    async def inputs(self, count: int) -> list[str]:
        """As many as the provider gets at without anything being staged."""
        if self.speech.scheme:
            return [self.speech.address(f"talk{number}.wav") for number in range(count)]
        return [await self.upload(f"talk{number}.wav", WAVE + bytes([number])) for number in range(count)]

    async def transcribe(self, inputs: list[str] | None = None, **more: Any) -> str:
        asked = {"provider": self.speech.name, **self.speech.options} | ({} if inputs is None else {"inputs": inputs})
        made = ok(await self.ann.post("/api/batches/transcription", json=asked | more), 202)
        assert made["status"] == "PENDING"
        return made["id"]

    async def transcribed(self, inputs: list[str] | None = None, **more: Any) -> dict[str, Any]:
        batch_id = await self.transcribe(inputs, **more)
        async with self.working():
            return await self.done(batch_id)

    async def document(self, batch_id: str) -> Any:
        answer = await self.ann.get(f"/api/batches/{batch_id}/results")
        assert answer.headers["content-type"] == "application/json"
        return ok(answer)

    async def entries(self, batch_id: str) -> list[dict[str, Any]]:
        """Of all models, whatever the document looks like."""
        found = await self.document(batch_id)
        if "transcriptions" in found:
            return list(found["transcriptions"])
        return [entry for model in found.values() for entry in model["transcriptions"]]

    async def state_in_sql(self, batch_id: str) -> Any:
        names = {"sqlite": "towpath_batch_state", "postgresql": "towpath.batch_state"}
        view = names["sqlite" if self.app.url.startswith("sqlite") else "postgresql"]
        found = await raw(self.app.url, f"SELECT provider_state FROM {view} WHERE id = '{batch_id}'")
        return json.loads(found)


async def raw(url: str, statement: str) -> str:
    """One value, asked of the database itself."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database:
            [(value,)] = database.execute(statement).fetchall()
            return str(value)
    connection = await asyncpg.connect(url)
    try:
        return str(await connection.fetchval(statement))
    finally:
        await connection.close()


@asynccontextmanager
async def opened_speech(
    url: str, settings: Settings, speech: Speech, simulator: Simulator | None = None
) -> AsyncIterator[SpeechDesk]:
    module = import_module(f"tests.providers.{speech.name.lower()}")
    made = simulator or module.simulator()
    wanted = replace(settings, input_buckets="s3://inputs,gs://inputs", provider_call_seconds=30.0)
    with served(made):
        app = App(url, settings=wanted)
        app.provider(speech.name, lambda: module.adapter(made))
        async with opened_desk(app) as desk:
            found = SpeechDesk(desk.site)
            found.simulator, found.speech = made, speech
            yield found


class _Bucket(Simulator):
    """The storage of a simulator, spoken to by the library for object stores."""

    name = "bucket"

    def __init__(self, of: Simulator) -> None:
        super().__init__()
        self._routes = CloudStorage(of, TOKEN).routes

    @property
    def app(self) -> Any:
        return Starlette(routes=self._routes)


@contextmanager
def bucket_of(simulator: Simulator) -> Iterator[dict[str, str]]:
    """What the environment has to say so that gs:// is there."""
    bucket = _Bucket(simulator)
    with served(bucket):
        yield {
            "GOOGLE_BASE_URL": f"{bucket.url}{PREFIX}", "GOOGLE_BEARER_TOKEN": TOKEN, "GOOGLE_ALLOW_HTTP": "true",
        }  # fmt: skip
