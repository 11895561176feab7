"""A worker that asks a server, with a token of its own."""

from __future__ import annotations

from typing import Any

import httpx

from towpath import ConfigurationError, Fatal, SchemaInvalid, Transient, plain_text
from towpath.fleet.messages import HandedTask, StatusReport, WorkerReport
from towpath.fleet.node.channel import Answer

_PATIENCE = 30.0


class OverHttps:
    def __init__(self, server: str, token: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        if not server.startswith(("https://", "http://")):
            raise ConfigurationError(f"{server[:100]!r} is no address of a server; give one such as https://towpath.example")
        self._client = httpx.AsyncClient(
            base_url=server.rstrip("/"),
            headers={"Authorization": f"Bearer {token}"},
            timeout=_PATIENCE,
            transport=transport,
        )

    async def claim(self, worker: WorkerReport, wait_seconds: float) -> HandedTask | None:
        asked = worker.model_dump(include={"operations", "host", "version", "slots", "busy"})
        told = await self._post("/api/fleet/claim", asked | {"wait_seconds": wait_seconds}, wait_seconds + _PATIENCE)
        return None if told["task"] is None else HandedTask.model_validate(told["task"])

    async def acknowledged(self, task: HandedTask) -> None:
        return

    async def report(self, report: StatusReport) -> Answer:
        told = await self._post("/api/fleet/status", report.model_dump(exclude_none=True), _PATIENCE)
        return Answer(bool(told["cancelled"]), told["get_url"], told["put_url"], told["urls_until"])

    async def look(self, task: HandedTask) -> Answer:
        return Answer()

    async def greet(self, worker: WorkerReport) -> None:
        return

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _post(self, path: str, body: dict[str, Any], timeout: float) -> Any:
        try:
            answer = await self._client.post(path, json=body, timeout=timeout)
        except httpx.HTTPError as error:
            raise Transient(f"the server could not be reached: {type(error).__name__}") from None
        if answer.status_code in (401, 403):
            raise Fatal("the server does not know this worker's token, or it was revoked")
        if answer.status_code == 422:
            raise SchemaInvalid(f"the server does not understand this worker: {plain_text(answer.text, 300)}")
        if answer.status_code != 200:
            raise Transient(f"the server answered {answer.status_code}")
        return answer.json()
