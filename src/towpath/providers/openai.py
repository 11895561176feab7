"""OpenAI's Batch API, and any other service that speaks it.

A batch bears the order's key in its metadata, and reads a file that nobody else's batch reads; either finds it again.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from towpath.core.errors import ConfigurationError, Fatal, OperationError
from towpath.providers.completions import COMPLETION, REFUSED, Requests, check_order, refused, results
from towpath.providers.contract import Answer, Files, Found, Grade, Limits, Order, Prepared, Result, Vanished
from towpath.providers.http_failures import calling, in_time
from towpath.providers.openai_words import ENDED, answer_of, result_of, translated
from towpath.providers.spooling import spooled

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import Batch

_ENDPOINT: Final = "/v1/chat/completions"
_KEY = "towpath_key"
_INPUT = "input_file_id"
_PAGE = 100
_OTHER_ENDPOINT = "check the base URL, which usually ends in /v1: it is of another service, or of one without batches"


class OpenAI:
    grade = Grade.LISTED
    task_types = frozenset({COMPLETION})
    limits = Limits(count=50_000, bytes=190_000_000)
    """It takes files of 200 MB; every line of ours gets a model, a method and a URL besides."""
    reads: frozenset[str] = frozenset()
    cancels = True
    prepares_again = False
    submit_seconds = 60.0
    _windows: tuple[str, ...] | None = ("24h",)

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        organization: str | None = None,
        project: str | None = None,
        webhook_secret: str | None = None,
        timeout: float = 60.0,
        upload_timeout: float = 900.0,
    ) -> None:
        """What is not given is the library's: OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_ORG_ID, OPENAI_PROJECT_ID,
        OPENAI_WEBHOOK_SECRET."""
        self._options: dict[str, Any] = {
            "api_key": api_key,
            "base_url": base_url,
            "organization": organization,
            "project": project,
            "webhook_secret": webhook_secret,
        }
        self._timeout, self._upload_timeout = timeout, upload_timeout

    @property
    def name(self) -> str:
        return "OPENAI"

    @cached_property
    def _client(self) -> AsyncOpenAI:
        try:
            from openai import AsyncOpenAI, OpenAIError
        except ImportError:
            raise ConfigurationError(f"{self.name} needs a library of its own: pip install 'towpath[openai]'") from None
        try:
            return AsyncOpenAI(**self._options, timeout=self._timeout, max_retries=0)
        except OpenAIError:
            raise ConfigurationError(f"{self.name} has no API key: set OPENAI_API_KEY, or give api_key") from None

    def _calling(self, doing: str, seconds: float | None = None) -> AbstractAsyncContextManager[None]:
        return calling(self.name, doing, seconds or self._timeout, partial(translated, self.name))

    async def check(self, order: Order | None = None) -> None:
        _ = self._client
        if order is not None:
            check_order(self.name, order, self._windows)

    async def probe(self) -> str:
        try:
            async with self._calling("listing batches"):
                await self._client.batches.list(limit=1)
        except Vanished as error:
            raise Fatal(f"{self.name} has no list of batches: {error}", remedy=_OTHER_ENDPOINT) from None
        return "a list of batches"

    async def prepare(self, order: Order, files: Files) -> Prepared:
        def line(ref: str, body: Mapping[str, Any]) -> dict[str, Any]:
            return {"custom_id": ref, "method": "POST", "url": _ENDPOINT, "body": {**body, "model": order.model}}

        requests = Requests(self.name, order, files, line)
        async with spooled(requests.lines()) as file, self._calling("uploading the requests", self._upload_timeout):
            made = await self._client.files.create(
                file=(f"{order.key}.jsonl", file, "application/jsonl"), purpose="batch", timeout=self._upload_timeout
            )
        return {_INPUT: made.id, REFUSED: requests.refused}

    async def submit(self, order: Order, prepared: Prepared) -> str:
        async with self._calling("creating the batch"):
            batch = await self._client.batches.create(
                input_file_id=prepared[_INPUT],
                endpoint=_ENDPOINT,
                completion_window=cast("Literal['24h']", order.options.get("window", "24h")),
                metadata={_KEY: order.key},
            )
        return batch.id

    async def find(self, order: Order, prepared: Prepared) -> Found | None:
        """Goes through all of them: nothing promises that the newest are listed first."""
        from openai import omit

        seen: set[str] = set()
        after: str | None = None
        while True:
            try:
                async with self._calling("listing batches"):
                    page = await self._client.batches.list(limit=_PAGE, after=after or omit)
            except Vanished as error:
                raise Fatal(f"{self.name} has no list of batches to look in: {error}") from None
            for batch in page.data:
                if (batch.metadata or {}).get(_KEY) == order.key or batch.input_file_id == prepared.get(_INPUT):
                    return Found(batch.id, batch.status)
            ids = {batch.id for batch in page.data}
            if page.has_more is False or not ids:
                return None
            if ids <= seen:
                raise Fatal(f"{self.name}'s list of batches goes round in circles: nobody can tell what is in it")
            seen |= ids
            after = page.data[-1].id

    async def poll(self, order: Order, prepared: Prepared, external_id: str) -> Answer:
        return answer_of(await self._retrieve(external_id))

    async def _retrieve(self, external_id: str) -> Batch:
        async with self._calling("asking for the batch"):
            return await self._client.batches.retrieve(external_id)

    async def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        batch = await self._retrieve(external_id)
        for file_id in (batch.output_file_id, batch.error_file_id):
            if file_id:
                async with aclosing(results(self.name, self._content(file_id), result_of)) as found:
                    async for result in found:
                        yield result
        for result in refused(prepared):
            yield result

    async def _content(self, file_id: str) -> AsyncGenerator[bytes, None]:
        async with AsyncExitStack() as stack:
            async with self._calling("reading results"):
                content = self._client.files.with_streaming_response.content(file_id)
                response = await stack.enter_async_context(content)
            async for chunk in in_time(response.iter_bytes(), lambda: self._calling("reading results")):
                yield chunk

    async def cancel(self, order: Order, prepared: Prepared, external_id: str) -> None:
        try:
            async with self._calling("cancelling the batch"):
                await self._client.batches.cancel(external_id)
        except Vanished:
            return
        except OperationError:
            if (await self._retrieve(external_id)).status not in (*ENDED, "cancelling"):
                raise

    async def clean(self, order: Order, prepared: Prepared) -> None:
        try:
            async with self._calling("deleting the requests"):
                await self._client.files.delete(prepared[_INPUT])
        except Vanished:
            return

    def called_back(self, headers: Mapping[str, str], body: bytes) -> str | None:
        try:
            if not self._client.webhook_secret:  # an empty one signs what anybody sends
                return None
            event = self._client.webhooks.unwrap(body, dict(headers))
        except (ConfigurationError, ValueError, TypeError):
            return None
        told = getattr(event, "data", None)
        external_id = getattr(told, "id", None)
        return external_id if str(getattr(event, "type", "")).startswith("batch.") and external_id else None

    async def aclose(self) -> None:
        if "_client" in self.__dict__:
            await self._client.close()
