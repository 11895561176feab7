"""What Google's two batch APIs have in common: one library, jobs that are told apart by their display names."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError, Fatal, OperationError
from towpath.providers.completions import COMPLETION, check_order
from towpath.providers.contract import Answer, Found, Grade, Order, Prepared, Vanished
from towpath.providers.google_words import answer_of, translated
from towpath.providers.http_failures import calling

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import BatchJob, ListBatchJobsConfigDict

_PAGE = 100


class GoogleBatches:
    name = "GOOGLE"
    grade = Grade.LISTED
    task_types = frozenset({COMPLETION})
    reads: frozenset[str] = frozenset()
    cancels = True
    prepares_again = False
    submit_seconds = 60.0
    _missing = ""
    """What to say if the library finds no credentials."""

    def __init__(self, base_url: str | None, timeout: float, upload_timeout: float, **credentials: Any) -> None:
        self._base_url, self._credentials = base_url, credentials
        self._timeout, self._upload_timeout = timeout, upload_timeout

    @cached_property
    def _client(self) -> Client:
        try:
            from google.auth.exceptions import GoogleAuthError
            from google.genai import Client
            from google.genai.types import HttpOptions, HttpRetryOptions
        except ImportError:
            raise ConfigurationError(f"{self.name} needs a library of its own: pip install 'towpath[google]'") from None
        # One attempt: without a number of them the library repeats some requests of its own accord.
        options = HttpOptions(
            base_url=self._base_url, timeout=round(self._timeout * 1000), retry_options=HttpRetryOptions(attempts=1)
        )
        try:
            return Client(**self._credentials, http_options=options)
        except (ValueError, GoogleAuthError):
            raise ConfigurationError(f"{self.name} has no credentials it could use: {self._missing}") from None

    def _calling(self, doing: str, seconds: float | None = None) -> AbstractAsyncContextManager[None]:
        return calling(self.name, doing, seconds or self._timeout, partial(translated, self.name))

    def _display_name(self, order: Order) -> str:
        return order.key

    def _narrowed(self, order: Order) -> ListBatchJobsConfigDict:
        """What is asked for when jobs are listed; what comes is looked through in any case."""
        return {"page_size": _PAGE}

    async def check(self, order: Order | None = None) -> None:
        await asyncio.to_thread(getattr, self, "_client")  # it may ask the machine it runs on who it is
        if order is not None:
            check_order(self.name, order)

    async def probe(self) -> str:
        try:
            async with self._calling("listing jobs"):
                await self._client.aio.batches.list(config={"page_size": 1})
        except Vanished as error:
            raise Fatal(str(error), remedy="check the base URL, and for Vertex the project and the location") from None
        return "a list of batch jobs"

    async def find(self, order: Order, prepared: Prepared) -> Found | None:
        wanted = self._display_name(order)
        async with self._calling("listing jobs"):
            pager = await self._client.aio.batches.list(config=self._narrowed(order))
        while True:
            for job in pager.page:
                if job.display_name == wanted and job.name:
                    return Found(job.name, answer_of(job).status)
            async with self._calling("listing jobs"):
                try:
                    await pager.next_page()
                except IndexError:
                    return None

    async def poll(self, order: Order, prepared: Prepared, external_id: str) -> Answer:
        return answer_of(await self._get(external_id))

    async def _get(self, external_id: str) -> BatchJob:
        async with self._calling("asking for the job"):
            return await self._client.aio.batches.get(name=external_id)

    async def cancel(self, order: Order, prepared: Prepared, external_id: str) -> None:
        try:
            async with self._calling("cancelling the job"):
                await self._client.aio.batches.cancel(name=external_id)
        except Vanished:
            return
        except OperationError:
            answer = await self.poll(order, prepared, external_id)
            if not (answer.phase.ended or answer.status == "JOB_STATE_CANCELLING"):
                raise

    def called_back(self, headers: Mapping[str, str], body: bytes) -> str | None:
        return None

    async def aclose(self) -> None:
        if "_client" in self.__dict__:
            await self._client.aio.aclose()
            self._client.close()
