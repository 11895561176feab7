"""Anthropic's Message Batches.

A batch bears no name and no tag, and what it consists of can only be seen in its results. So every request's id begins with
a mark of its order: a batch that has ended can be recognised, one that is under way cannot.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError, Fatal, OperationError, Transient
from towpath.providers.anthropic_words import answer_of, mark_of, params_of, ref_of, result_of, sent_id, translated
from towpath.providers.completions import COMPLETION, REFUSED, Requests, check_order, refused, results
from towpath.providers.contract import Answer, Files, Found, Grade, Limits, Order, Prepared, Result, Vanished
from towpath.providers.http_failures import calling, in_time
from towpath.providers.json_lines import objects
from towpath.providers.spooling import chunks_of, size_of, spooled

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types.messages import MessageBatch

_PATH = "/v1/messages/batches"
_PAGE = 1000
_EARLIER = 86400.0
"""How far a batch may seem older than its order, because two clocks disagree."""
_MOST_OPENED = 100
"""How many batches of others `find` looks into before it says that it cannot tell."""


class Anthropic:
    name = "ANTHROPIC"
    grade = Grade.AMBIGUOUS
    task_types = frozenset({COMPLETION})
    limits = Limits(count=100_000, bytes=240_000_000)
    """It takes 256 MB; every request of ours gets a model and a longer id besides."""
    reads: frozenset[str] = frozenset()
    cancels = True
    prepares_again = True

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        files: Files | None = None,
        max_tokens: int = 4096,
        timeout: float = 60.0,
        upload_timeout: float = 900.0,
    ) -> None:
        """What is not given is the library's: ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, or a profile.

        `files` is where requests are read when they are submitted: there is nowhere to upload them to before. What `prepare`
        is given does as well; without either, an order that another process has prepared has to be prepared again.
        `max_tokens` is for requests that name none; Anthropic wants one of each.
        """
        self._api_key, self._base_url = api_key, base_url
        self._files, self._max_tokens = files, max_tokens
        self._timeout, self._upload_timeout = timeout, upload_timeout
        self.submit_seconds = upload_timeout + timeout

    @cached_property
    def _client(self) -> AsyncAnthropic:
        try:
            from anthropic import AnthropicError, AsyncAnthropic
        except ImportError:
            raise ConfigurationError(f"{self.name} needs a library of its own: pip install 'towpath[anthropic]'") from None
        try:
            client = AsyncAnthropic(api_key=self._api_key, base_url=self._base_url, timeout=self._timeout, max_retries=0)
        except AnthropicError:
            client = None
        if client is None or not (client.api_key or client.auth_token or getattr(client, "credentials", None)):
            raise ConfigurationError(f"{self.name} has no credentials it could use: set ANTHROPIC_API_KEY, or give api_key")
        return client

    def _calling(self, doing: str, seconds: float | None = None) -> AbstractAsyncContextManager[None]:
        return calling(self.name, doing, seconds or self._timeout, partial(translated, self.name))

    async def check(self, order: Order | None = None) -> None:
        _ = self._client
        if order is not None:
            check_order(self.name, order)

    async def probe(self) -> str:
        try:
            async with self._calling("listing batches"):
                await self._client.messages.batches.list(limit=1)
        except Vanished as error:
            raise Fatal(str(error), remedy="check the base URL: it is of another service, or of none") from None
        return "a list of batches"

    def _requests(self, order: Order, files: Files) -> Requests:
        def line(ref: str, body: Mapping[str, Any]) -> dict[str, Any]:
            return {"custom_id": sent_id(order.key, ref), "params": params_of(body, order.model, self._max_tokens)}

        return Requests(self.name, order, files, line)

    async def prepare(self, order: Order, files: Files) -> Prepared:
        self._files = files
        requests = self._requests(order, files)
        async with aclosing(requests.lines()) as lines:
            async for _ in lines:
                pass
        return {"count": requests.count, "at": time.time(), REFUSED: requests.refused}

    async def submit(self, order: Order, prepared: Prepared) -> str:
        if self._files is None:
            raise Transient(
                f"{self.name} reads the requests of {order.key!r} only now, and was not told where: prepare it again"
            )
        from anthropic.types.messages import MessageBatch

        async with (
            spooled(_listed(self._requests(order, self._files).lines())) as file,
            self._calling("creating the batch", self._upload_timeout),
        ):
            # The library's own `batches.create` would hold all of it in memory, several times.
            batch = await self._client.post(
                _PATH,
                cast_to=MessageBatch,
                options={"headers": {"content-length": str(size_of(file))}, "timeout": self._upload_timeout},
                content=chunks_of(file),
            )
        return batch.id

    async def find(self, order: Order, prepared: Prepared) -> Found | None:
        """Looks into the batches that have ended since and have as many requests; the newest are listed first."""
        opened = 0
        async with aclosing(self._newest()) as batches:
            async for batch in batches:
                if batch.created_at.timestamp() < prepared.get("at", 0) - _EARLIER or opened >= _MOST_OPENED:
                    break
                total = answer_of(batch).counts
                if batch.results_url and total and total.total == prepared.get("count", total.total):
                    opened += 1
                    if await self._mark_in(batch.id) == mark_of(order.key):
                        return Found(batch.id, batch.processing_status)
        return None

    async def _newest(self) -> AsyncGenerator[MessageBatch, None]:
        async with self._calling("listing batches"):
            page = await self._client.messages.batches.list(limit=_PAGE)
        while True:
            for batch in page.data:
                yield batch
            if not page.has_next_page():
                return
            async with self._calling("listing batches"):
                page = await page.get_next_page()

    async def _mark_in(self, external_id: str) -> str | None:
        """The mark on the first of a batch's results."""
        try:
            async with aclosing(objects(self._content(external_id), self.name)) as lines:
                async for line in lines:
                    return ref_of(str(line.get("custom_id")))[0]
        except Vanished:
            pass
        return None

    async def poll(self, order: Order, prepared: Prepared, external_id: str) -> Answer:
        return answer_of(await self._retrieve(external_id))

    async def _retrieve(self, external_id: str) -> MessageBatch:
        async with self._calling("asking for the batch"):
            return await self._client.messages.batches.retrieve(external_id)

    async def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        if (await self._retrieve(external_id)).archived_at:
            raise Fatal(f"{self.name} has put away the results of {external_id}", remedy="it keeps them for 29 days")
        async with aclosing(results(self.name, self._content(external_id), result_of)) as found:
            async for result in found:
                yield result
        for result in refused(prepared):
            yield result

    async def _content(self, external_id: str) -> AsyncGenerator[bytes, None]:
        async with AsyncExitStack() as stack:
            async with self._calling("reading results"):
                content = self._client.messages.batches.with_streaming_response.results(external_id)
                response = await stack.enter_async_context(content)
            async for chunk in in_time(response.iter_bytes(), lambda: self._calling("reading results")):
                yield chunk

    async def cancel(self, order: Order, prepared: Prepared, external_id: str) -> None:
        try:
            async with self._calling("cancelling the batch"):
                await self._client.messages.batches.cancel(external_id)
        except Vanished:
            return
        except OperationError:
            if (await self._retrieve(external_id)).processing_status not in ("canceling", "ended"):
                raise

    async def clean(self, order: Order, prepared: Prepared) -> None:
        """`prepare` has left nothing there."""

    def called_back(self, headers: Mapping[str, str], body: bytes) -> str | None:
        """Anthropic's webhooks tell of other things than batches."""
        return None

    async def aclose(self) -> None:
        if "_client" in self.__dict__:
            await self._client.close()


async def _listed(lines: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """The lines as the body of one request."""
    before = b'{"requests":['
    async with aclosing(lines):
        async for line in lines:
            yield before + line
            before = b","
    yield b"]}"
