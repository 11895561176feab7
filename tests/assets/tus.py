"""A client of resumable uploads, and a product that takes them."""

import base64
from collections.abc import Mapping
from typing import Any

import httpx

from towpath import App, SchemaInvalid, Transaction, assets
from towpath.assets import Arrival, Sender

BYTES = "application/offset+octet-stream"
VERSION = {"Tus-Resumable": "1.0.0"}


class Notes:
    """Remembers what it was given. A title of `bad` is refused at once, one of `late` when the file is there."""

    def __init__(self) -> None:
        self.given: list[tuple[str, str, dict[str, str]]] = []
        self.error: Exception | None = None

    def attached(self, app: App) -> App:
        assets.on_upload(app, "note", self.receive, check=self.check)
        return app

    async def check(self, app: App, sender: Sender, options: Mapping[str, str]) -> None:
        if options.get("title") == "bad":
            raise SchemaInvalid("is no good title", path="title")

    async def receive(self, tx: Transaction, arrival: Arrival) -> dict[str, Any]:
        if self.error is not None:
            raise self.error
        if arrival.options.get("title") == "late":
            raise SchemaInvalid("is no good title after all", path="title")
        self.given.append((arrival.sender.name or "", arrival.asset.id, dict(arrival.options)))
        return {"id": f"note-{arrival.asset.id}"}


def metadata(**values: str) -> str:
    return ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in values.items())


async def begin(client: httpx.AsyncClient, length: int, name: str = "a.wav", **values: str) -> httpx.Response:
    about = metadata(**{"filename": name, "purpose": "note"} | values)
    return await client.post("/api/uploads", headers=VERSION | {"Upload-Length": str(length), "Upload-Metadata": about})


async def begun(client: httpx.AsyncClient, length: int, name: str = "a.wav", **values: str) -> str:
    """Where a new upload's bytes go."""
    response = await begin(client, length, name, **values)
    assert response.status_code == 201, response.text
    return response.headers["location"]


async def send(client: httpx.AsyncClient, where: str, offset: int, data: Any) -> httpx.Response:
    return await client.patch(where, headers=VERSION | {"Upload-Offset": str(offset), "Content-Type": BYTES}, content=data)


async def offset_of(client: httpx.AsyncClient, where: str) -> int:
    response = await client.head(where, headers=VERSION)
    assert response.status_code == 200, response.headers
    return int(response.headers["upload-offset"])
