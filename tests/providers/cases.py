"""The providers that the contract suite runs on. Adding one is an entry in `CASES`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from towpath.providers import Input, Order, Provider
from towpath.providers.simulator import Simulator


class MemoryFiles:
    """Bytes to send, as the engine would hand them out of the blob store."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    async def open(self, blob: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        data = self.blobs[blob][start:end]
        for at in range(0, len(data), 64 * 1024):
            yield data[at : at + 64 * 1024]

    async def size(self, blob: str) -> int:
        return len(self.blobs[blob])


@dataclass(frozen=True)
class Case:
    """One provider: its simulator, an adapter that is pointed at it, and orders it takes.

    `module` is `tests.providers.<module>` with `simulator() -> Simulator`, `adapter(simulator) -> Provider` and
    `order(files, key, count) -> Order`.
    """

    name: str
    module: str
    skips: frozenset[str] = field(default_factory=frozenset)
    """Faults that this provider's protocol cannot have, by name; each with its reason in that module."""

    def _of(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(f"tests.providers.{self.module}"), name)
        return found

    def simulator(self) -> Simulator:
        made: Simulator = self._of("simulator")()
        return made

    def adapter(self, simulator: Simulator) -> Provider:
        made: Provider = self._of("adapter")(simulator)
        return made

    def order(self, files: MemoryFiles, key: str, count: int = 3) -> Order:
        made: Order = self._of("order")(files, key, count)
        return made


def completion(files: MemoryFiles, key: str, count: int, model: str, body: Callable[[int], dict[str, Any]]) -> Order:
    """An order of `count` requests, with refs r0, r1, …"""
    import json

    lines = [json.dumps({"custom_id": f"r{number}", "body": body(number)}) for number in range(count)]
    files.blobs[f"{key}/requests"] = ("\n".join(lines) + "\n").encode()
    return Order(key, "completion", model, requests=f"{key}/requests", count=count, options={"window": "24h"})


def transcription(key: str, count: int, model: str, uri: Callable[[int], str], **options: Any) -> Order:
    """An order of `count` files that the provider fetches by itself, with refs r0, r1, …"""
    inputs = tuple(Input(f"r{number}", f"file{number}.wav", uri=uri(number)) for number in range(count))
    return Order(key, "transcription", model, inputs=inputs, count=count, options={"locale": "en-US", **options})


CASES: tuple[Case, ...] = (
    Case("AWS", "aws", skips=frozenset({"partial"})),
    Case("AZURE", "azure"),
    Case("GOOGLE", "google", skips=frozenset({"unknown_status", "expired_url"})),
    Case("SARVAM", "sarvam"),
    Case("ANTHROPIC", "anthropic", frozenset({"backwards"})),
    Case("GEMINI", "gemini", frozenset({"expired_url"})),
    Case("OPENAI", "openai", frozenset({"expired_url"})),
    Case("OPENAI_COMPATIBLE", "openai_compatible", frozenset({"expired_url"})),
    Case("VERTEX", "vertex", frozenset({"expired_url"})),
)
