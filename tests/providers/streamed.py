"""A provider that answers any number of requests and remembers none of them: whatever memory is used is not its own."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

from towpath.providers import Answer, Files, Found, Grade, Limits, Order, Phase, Prepared, Result
from towpath.providers.json_lines import requests

_ANSWER = {"choices": [{"message": {"role": "assistant", "content": "A miller. " * 20}, "finish_reason": "stop"}]}


class StreamedProvider:
    name = "STREAMED"
    grade = Grade.NAMED
    task_types = frozenset({"completion"})
    limits = Limits(count=50_000, bytes=90_000_000)
    reads: frozenset[str] = frozenset()
    cancels = False
    prepares_again = False
    submit_seconds = 60.0

    async def check(self, order: Order | None = None) -> None: ...

    async def prepare(self, order: Order, files: Files) -> Prepared:
        """Reads them all, as whoever uploads them does, and keeps the numbers of the first and the last."""
        first, last, count = None, 0, 0
        async for ref, body in requests(files, order.requests or ""):
            assert json.dumps(body)
            last = int(ref.removeprefix("r"))
            first = last if first is None else first
            count += 1
        assert count == order.count
        return {"first": first, "last": last}

    async def submit(self, order: Order, prepared: Prepared) -> str:
        return f"streamed-{order.key}"

    async def find(self, order: Order, prepared: Prepared) -> Found | None:
        return Found(f"streamed-{order.key}", "done")

    async def poll(self, order: Order, prepared: Prepared, external_id: str) -> Answer:
        return Answer("done", Phase.COMPLETED)

    async def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        """The last one first, because no provider promises an order; also those that nobody asked for in between."""
        for number in range(prepared["last"], prepared["first"] - 1, -1):
            yield Result(f"r{number}", _ANSWER, tokens_in=40, tokens_out=60)

    async def cancel(self, order: Order, prepared: Prepared, external_id: str) -> None: ...

    async def clean(self, order: Order, prepared: Prepared) -> None: ...

    def called_back(self, headers: object, body: bytes) -> str | None:
        return None

    async def aclose(self) -> None: ...
