"""The batch providers that an app has been given, opened when they are first needed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from towpath.blobs import BlobNotFound, BlobStore
from towpath.core.errors import ConfigurationError
from towpath.core.provider_jobs import ProviderJob
from towpath.engine.values import Values, is_reference
from towpath.providers import Files, Input, Order, Provider

ProviderFactory = Callable[[], Provider]


class Providers:
    """By name, each made once per process and closed with the app."""

    def __init__(self, factories: Mapping[str, ProviderFactory]) -> None:
        self._factories = factories
        self._opened: dict[str, Provider] = {}

    @property
    def names(self) -> list[str]:
        return sorted(self._factories)

    def get(self, name: str) -> Provider:
        found = self._opened.get(name)
        if found is None:
            factory = self._factories.get(name)
            if factory is None:
                known = ", ".join(self.names) or "none"
                raise ConfigurationError(f"no provider is named {name!r} (known: {known}); register it with app.provider()")
            found = self._opened[name] = factory()
        return found

    async def close(self) -> None:
        opened, self._opened = self._opened, {}
        for provider in opened.values():
            await provider.aclose()


class BlobFiles(Files):
    """What an order sends along, from the blob store."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def open(self, blob: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        return self._blobs.open(blob, start, end)

    async def size(self, blob: str) -> int:
        info = await self._blobs.head(blob)
        return info.size if info is not None else 0


def inputs_of(order: Order) -> list[list[Any]]:
    return [[one.ref, one.filename, one.uri, one.blob, one.size, one.source] for one in order.inputs]


def holds_secrets(order: Order) -> bool:
    """What stands behind a link's question mark may open the file to whoever reads it: it does not belong in a row."""
    return any("?" in (one.uri or "") for one in order.inputs)


def as_json(order: Order, inputs: Any) -> dict[str, Any]:
    """An order as it is stored, without what its row says anyway; `inputs` are its own, or where they are."""
    return {
        "task_type": order.task_type, "inputs": inputs, "requests": order.requests, "count": order.count,
        "options": dict(order.options), "output": order.output, "callback": order.callback,
    }  # fmt: skip


async def order_of(values: Values, row: ProviderJob) -> Order:
    stored = await values.fetch(row.order_json)
    inputs = tuple([Input(*one) for one in await _inputs(values, stored["inputs"])])
    return Order(
        row.key, stored["task_type"], row.model, inputs, stored["requests"], stored["count"], stored["options"],
        stored["output"], stored["callback"],
    )  # fmt: skip


async def _inputs(values: Values, stored: Any) -> list[list[Any]]:
    """Of an order that was cleaned up, or whose job was deleted, there are none any more, and nobody needs them."""
    if not is_reference(stored):
        return list(stored)
    try:
        return list(await values.load(stored))
    except BlobNotFound:
        return []


async def forget_inputs(values: Values, row: ProviderJob) -> None:
    """Links to files are kept no longer than the order is under way."""
    stored = (await values.fetch(row.order_json))["inputs"]
    if is_reference(stored):
        await values.forget(stored)
