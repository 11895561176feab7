"""Requests to the transcriptions of an Azure Speech resource, and what their refusals mean."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from towpath.core.errors import ConfigurationError, Fatal, Transient
from towpath.providers.contract import Vanished
from towpath.providers.http_client import document, new_client
from towpath.providers.refusals import patience, refusal, told

if TYPE_CHECKING:
    import httpx

_NAME = "AZURE"
_VERSION = "2024-11-15"
_PAGE = 100


class AzureApi:
    def __init__(self, endpoint: str, key: str, timeout: float) -> None:
        self._endpoint, self._key, self._timeout = endpoint.rstrip("/"), key, timeout
        self._client: httpx.AsyncClient | None = None

    def check(self) -> None:
        self._http()
        if not self._key or urlsplit(self._endpoint).scheme not in ("http", "https"):
            example = "https://westeurope.api.cognitive.microsoft.com"
            raise ConfigurationError(
                f"{_NAME} needs an endpoint, such as {example}, and a key of the resource: set "
                "TOWPATH_AZURE_SPEECH_ENDPOINT and TOWPATH_AZURE_SPEECH_KEY, or give endpoint and key"
            )

    async def ask(self, method: str, path: str, params: dict[str, str] | None = None, json: Any = None) -> httpx.Response:
        """`path` is what follows `/speechtotext/transcriptions`."""
        import httpx

        url, query = f"{self._endpoint}/speechtotext/transcriptions{path}", {**(params or {}), "api-version": _VERSION}
        try:
            async with patience(_NAME, self._timeout):
                headers = {"Ocp-Apim-Subscription-Key": self._key}
                response = await self._http().request(method, url, params=query, json=json, headers=headers)
        except httpx.HTTPError as error:
            raise Transient(f"{_NAME} could not be reached: {type(error).__name__}: {self.told(str(error))}") from None
        except (httpx.InvalidURL, UnicodeEncodeError):
            raise ConfigurationError(f"the endpoint or the key of {_NAME} cannot be used") from None
        if response.is_success:
            return response
        said, again = response.text[:2000], response.headers.get("retry-after")
        refused = refusal(_NAME, response.status_code, said, again, [self._key])
        if isinstance(refused, Vanished) and not path.startswith("/"):
            raise Fatal(str(refused), remedy="check the endpoint: it is of another service, or of none")
        raise refused

    async def pages(self, path: str, query: dict[str, str]) -> AsyncGenerator[dict[str, Any], None]:
        """Of the link to the next page only the query is taken: the key goes to nobody but the endpoint."""
        asked: dict[str, str] | None = query | {"top": str(_PAGE)}
        while asked is not None:
            page = in_json(await self.ask("GET", path, params=asked))
            for value in page.get("values", []):
                yield value
            following = page.get("@nextLink")
            asked = dict(parse_qsl(urlsplit(following).query)) if following else None

    async def content(self, file: dict[str, Any]) -> dict[str, Any]:
        """What is in a result file."""
        found = await document(self._http(), _NAME, str(file.get("links", {}).get("contentUrl")), self._timeout)
        if not isinstance(found, dict):
            raise Transient(f"{_NAME} has a result file {file.get('name')!r} that is no JSON object")
        return found

    def told(self, said: str) -> str:
        return told(said, [self._key])

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _http(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = new_client("azure")
        return self._client


def in_json(response: httpx.Response) -> dict[str, Any]:
    try:
        value = response.json()
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Transient(f"{_NAME} answered something that is no JSON object: {told(response.text[:200])}")
    return value
