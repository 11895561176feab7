"""Google's clients: speech by google-cloud-speech over REST, results by the same credentials from Cloud Storage.

Made when they are first needed, called in threads, and never trying again by themselves.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from towpath.core.errors import ConfigurationError
from towpath.providers.google_errors import translated
from towpath.providers.http_client import DOWNLOADS
from towpath.providers.refusals import patience, refusal

_NAME = "GOOGLE"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_STORAGE = "https://storage.googleapis.com"


class GoogleClients:
    def __init__(
        self, project: str | None, location: str, endpoint: str | None, storage: str | None, credentials: Any, timeout: float
    ) -> None:
        regional = "" if location == "global" else f"{location}-"
        self._endpoint, self._storage = endpoint or f"{regional}speech.googleapis.com", storage or _STORAGE
        self._project, self._location, self._credentials, self._timeout = project, location, credentials, timeout
        self._speech: Any = None
        self._session: Any = None
        self._making = threading.Lock()

    async def check(self) -> None:
        """That there are credentials and a project. google.auth may look for them in files, and ask the machine it is on."""
        await self._in_thread(self._made)

    @property
    def place(self) -> str:
        """Where recognizers and operations are. Known once a client was made."""
        return f"projects/{self._project}/locations/{self._location}"

    async def call(self, ask: Callable[[Any, dict[str, Any]], Any]) -> Any:
        """`ask` is given the client, and the options of every call: no second attempt, and a limit."""
        return await self._in_thread(lambda: ask(self._made(), {"retry": None, "timeout": self._timeout}))

    async def read(self, uri: str) -> bytes:
        """The object at a gs:// URI."""
        content: bytes = await self._in_thread(lambda: self._read(uri), self._timeout * DOWNLOADS)
        return content

    async def aclose(self) -> None:
        speech, session, self._speech, self._session = self._speech, self._session, None, None
        if speech is not None:
            speech.transport.close()
            session.close()

    async def _in_thread(self, call: Callable[[], Any], limit: float | None = None) -> Any:
        _installed()
        async with patience(_NAME, limit or self._timeout):
            return await asyncio.to_thread(translated, _NAME, call)

    def _read(self, uri: str) -> bytes:
        self._made()
        bucket, _, name = uri.removeprefix("gs://").partition("/")
        url = f"{self._storage}/storage/v1/b/{quote(bucket, safe='')}/o/{quote(name, safe='')}"
        answer = self._session.get(url, params={"alt": "media"}, timeout=self._timeout)
        if answer.status_code != 200:
            raise refusal(_NAME, answer.status_code, answer.text[:2000], answer.headers.get("retry-after"))
        content: bytes = answer.content
        return content

    def _made(self) -> Any:
        """The client of speech. With it the session is made that reads results."""
        with self._making:
            if self._speech is None:
                import google.auth
                from google.api_core.client_options import ClientOptions
                from google.auth.transport.requests import AuthorizedSession
                from google.cloud.speech_v2 import SpeechClient

                if self._credentials is None:
                    self._credentials, found = google.auth.default(scopes=[_SCOPE])
                    self._project = self._project or found
                if not self._project:
                    raise ConfigurationError(f"{_NAME} needs a project: set GOOGLE_CLOUD_PROJECT, or give one")
                options = ClientOptions(api_endpoint=self._endpoint)
                self._session = AuthorizedSession(self._credentials)  # type: ignore[no-untyped-call]  # google.auth's own lack
                self._speech = SpeechClient(credentials=self._credentials, transport="rest", client_options=options)
            return self._speech


def _installed() -> None:
    try:
        import google.cloud.speech_v2  # noqa: F401  # it is looked for, and used elsewhere
    except ImportError:
        message = "Google's Speech-to-Text needs google-cloud-speech: pip install 'towpath[google]'"
        raise ConfigurationError(message) from None
