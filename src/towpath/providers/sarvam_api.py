"""Calls of sarvamai's asynchronous client, and what they raise in the engine's categories; files go up and down by links."""

from __future__ import annotations

import json
import mimetypes
import ssl
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError, Fatal, OperationError, Transient
from towpath.providers.contract import Files, Vanished
from towpath.providers.http_client import DOWNLOADS, document, new_client
from towpath.providers.refusals import patience, refusal, told

if TYPE_CHECKING:
    import httpx

_NAME = "SARVAM"
_NO_CREDITS = "insufficient_quota_error"
"""A 429 that no waiting helps against."""
_NOT_FOUND = "not_found_error"


class NoSuchJob(Vanished):
    """Sarvam's own word for it. Another service's 404 has no such word."""


class SarvamApi:
    def __init__(self, endpoint: str | None, key: str | None, timeout: float) -> None:
        self._endpoint, self._key, self._timeout = endpoint, key, timeout
        self._http: httpx.AsyncClient | None = None
        self._jobs: Any = None

    def check(self) -> None:
        self._made()

    async def call(self, ask: Callable[[Any, dict[str, Any]], Awaitable[Any]]) -> Any:
        """`ask` is given the client for jobs, and the options of every call: no second attempt, and a limit."""
        jobs = self._made()
        import httpx
        from pydantic import ValidationError
        from sarvamai.core.api_error import ApiError

        options = {"max_retries": 0, "timeout_in_seconds": self._timeout}
        try:
            async with patience(_NAME, self._timeout):
                return await ask(jobs, {"request_options": options})
        except ApiError as error:
            raise category(error.status_code, error.headers, error.body, self._key) from None
        except (httpx.HTTPError, ValidationError) as error:
            raise Transient(
                f"{_NAME} could not be reached, or understood: {type(error).__name__}: {self._told(error)}"
            ) from None

    async def upload(self, url: str, files: Files, blob: str, filename: str) -> None:
        """The storage behind the link wants to know the length before, and takes the bytes as they come."""
        import httpx

        size, kind = await files.size(blob), mimetypes.guess_type(filename)[0] or "application/octet-stream"
        headers = {"x-ms-blob-type": "BlockBlob", "content-type": kind, "content-length": str(size)}
        try:
            async with patience(_NAME, self._timeout * DOWNLOADS):
                response = await self._client().put(url, content=files.open(blob), headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError, OSError) as error:
            raise Transient(f"{filename!r} did not reach {_NAME}: {type(error).__name__}: {self._told(error)}") from None
        if not response.is_success:
            said = told(response.text[:2000])
            raise Transient(f"the storage of {_NAME} answered {response.status_code} to {filename!r}: {said}")

    async def document(self, url: str) -> Any:
        return await document(self._client(), _NAME, url, self._timeout)

    async def aclose(self) -> None:
        client, self._http, self._jobs = self._http, None, None
        if client is not None:
            await client.aclose()

    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            self._http = new_client("sarvam")
        return self._http

    def _made(self) -> Any:
        if self._jobs is None:
            try:
                from sarvamai import AsyncSarvamAI, SarvamAIEnvironment
                from sarvamai.core.api_error import ApiError
            except ImportError:
                raise ConfigurationError("Sarvam needs sarvamai: pip install 'towpath[sarvam]'") from None
            given: dict[str, Any] = {"api_subscription_key": self._key} if self._key else {}
            if self._endpoint:
                usual = vars(SarvamAIEnvironment.PRODUCTION)
                given["environment"] = SarvamAIEnvironment(**{**usual, "base": self._endpoint})
            try:
                client = AsyncSarvamAI(httpx_client=self._client(), timeout=self._timeout, **given)
            except ApiError:
                raise ConfigurationError(f"{_NAME} has no key: set SARVAM_API_KEY, or give one") from None
            self._key = client._client_wrapper.api_subscription_key  # also the environment's: it is told to nobody
            self._jobs = client.speech_to_text_job
        return self._jobs

    def _told(self, error: Exception) -> str:
        return told(str(error), [self._key])


def category(status: int | None, headers: dict[str, str] | None, body: Any, key: str | None = None) -> OperationError:
    said, code = body, ""
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        said, code = body["error"].get("message", body), str(body["error"].get("code", ""))
    text = said if isinstance(said, str) else json.dumps(said, default=str)
    if status is None or status < 400:
        return Transient(f"{_NAME} answered something that is no JSON: {told(text, [key])}")
    if code == _NO_CREDITS:
        return Fatal(f"{_NAME} answered {status}: {told(text, [key])}", remedy="top up the account's credits")
    if code == _NOT_FOUND:
        return NoSuchJob(f"{_NAME} answered {status}: {told(text, [key])}")
    again = {name.lower(): value for name, value in (headers or {}).items()}.get("retry-after")
    return refusal(_NAME, status, f"{code}: {text}" if code else text, again, [key])
