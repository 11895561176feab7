"""What orders of completions have in common, whoever takes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Collection, Iterator, Mapping
from contextlib import aclosing
from typing import Any

from towpath.core.encoding import plain
from towpath.core.errors import SchemaInvalid, Transient
from towpath.providers.chat_bodies import Untranslatable
from towpath.providers.contract import Files, Order, Prepared, Result
from towpath.providers.json_lines import objects, requests, written

COMPLETION = "completion"
REFUSED = "refused"
"""Where an adapter remembers the requests that it has not sent: their refs, and why not."""
_MOST_REFUSED = 1000

Translated = Callable[[str, Mapping[str, Any]], dict[str, Any]]
"""A request, by its ref and its body, in the provider's words. Untranslatable if it cannot be."""


def check_order(provider: str, order: Order, windows: Collection[str] | None = ("24h",)) -> None:
    """SchemaInvalid for what a provider of completions could not do anything with. `windows` are the times it lets one
    choose from; None lets one choose any."""
    if order.task_type != COMPLETION:
        raise SchemaInvalid(f"{provider} does {COMPLETION}, and was asked for {order.task_type!r}", path="task_type")
    if not order.requests:
        raise SchemaInvalid("a completion has a blob of requests", path="requests")
    if not order.model:
        raise SchemaInvalid(f"{provider} has to be told which model to ask", path="model")
    for name, value in order.options.items():
        if name != "window":
            raise SchemaInvalid(f"{provider} has nothing like it, only a window", path=name)
        if windows is not None and value not in windows:
            raise SchemaInvalid(f"{provider} has only {', '.join(windows)}, got {value!r}", path=name)


class Requests:
    """The requests of an order in a provider's words, a line each. Those that cannot be put so are left out and kept."""

    def __init__(self, provider: str, order: Order, files: Files, translated: Translated) -> None:
        self._provider, self._order, self._files, self._translated = provider, order, files, translated
        self.refused: dict[str, str] = {}
        self.count = 0

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """Read once. SchemaInvalid if nothing, or next to nothing, of the order can be sent."""
        async with aclosing(requests(self._files, self._order.requests or "")) as found:
            async for ref, body in found:
                try:
                    line = written(self._translated(ref, body))
                except Untranslatable as error:
                    self._refuse(ref, str(error))
                    continue
                self.count += 1
                yield line
        if not self.count:
            first = next(iter(self.refused.values()), "there are none")
            raise SchemaInvalid(f"none of the requests can be sent to {self._provider}: {first}", path="requests")

    def _refuse(self, ref: str, why: str) -> None:
        self.refused[ref] = plain(f"{self._provider} cannot be asked this: {why}", 200)
        if len(self.refused) > _MOST_REFUSED:
            raise SchemaInvalid(
                f"more than {_MOST_REFUSED} requests cannot be sent to {self._provider}, the last because {why}",
                path="requests",
            )


async def results(
    provider: str, chunks: AsyncIterable[bytes], read: Callable[[Mapping[str, Any]], Result]
) -> AsyncGenerator[Result, None]:
    """What is in a file of results, a line each."""
    async with aclosing(objects(chunks, provider)) as lines:
        async for line in lines:
            try:
                result = read(line)
            except (AttributeError, IndexError, KeyError, TypeError):
                raise Transient(f"{provider}'s results have a line of a shape this adapter does not know") from None
            yield result


def answered(text: str, raw: Any) -> dict[str, Any]:
    """The body of a result: what the model said, and the provider's own answer around it."""
    return {"text": text, "raw": raw}


def refused(prepared: Prepared) -> Iterator[Result]:
    """The results of what was never sent."""
    for ref, why in prepared.get(REFUSED, {}).items():
        yield Result(ref, error=why, code="unsupported")
