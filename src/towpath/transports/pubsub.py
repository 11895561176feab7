"""Google Cloud Pub/Sub as doorbell: bells go out to a topic, and come back as requests, by a push subscription.

It is for places where processes are only woken by requests. Whoever receives the push passes it on by the database.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from towpath.brokers.daemons import in_daemon
from towpath.core.encoding import plain
from towpath.core.errors import ConfigurationError, Fatal, Transient
from towpath.core.masking import masked
from towpath.transports.beside import BesideDatabase
from towpath.transports.contract import Transport
from towpath.transports.heard import Heard, Unasked
from towpath.transports.places import parts_of

_SCOPE = "https://www.googleapis.com/auth/pubsub"
_ENDPOINT = "https://pubsub.googleapis.com"
_QUIET = 0.1
_TIMEOUT = 10.0


class PubSubTransport(BesideDatabase):
    """Credentials are those that Google's library finds. With `?endpoint=http://…` it is one that asks for none."""

    def __init__(self, url: str, database: Transport) -> None:
        project, topic, parameters = parts_of(url)
        if not project or not topic or "/" in topic:
            raise ConfigurationError(f"TOWPATH_TRANSPORT={masked(url)} names no topic; it looks like pubsub://PROJECT/TOPIC")
        self._topic = f"projects/{project}/topics/{topic}"
        self._endpoint = parameters.get("endpoint", "").rstrip("/")
        super().__init__(f"Pub/Sub topic {self._topic}", database, _QUIET)
        self._session: Any = None

    async def send(self, queues: set[str]) -> None:
        messages = [{"attributes": {"queue": queue}} for queue in sorted(queues)]
        await in_daemon(lambda: self._ask("POST", ":publish", {"messages": messages}))

    def arrived(self, topics: Iterable[str]) -> None:
        self._database.ring(topics)

    def attend(self, queues: Iterable[str], heard: Heard) -> Unasked:
        return Unasked(self.listen(heard, list(queues)))

    async def check(self) -> str:
        await in_daemon(lambda: self._ask("GET", "", None))
        return "it answers, and has the topic"

    async def close(self) -> None:
        await super().close()
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _ask(self, method: str, verb: str, body: dict[str, Any] | None) -> None:
        """Blocks: it is for threads."""
        try:
            if self._session is None:
                self._session = self._open()
            address = f"{self._endpoint or _ENDPOINT}/v1/{self._topic}{verb}"
            answer = self._session.request(method, address, json=body, timeout=_TIMEOUT)
        except ConfigurationError:
            raise
        except Exception as error:  # credentials, addresses, connections: the library has a class for each
            raise Transient(f"Pub/Sub could not be reached: {type(error).__name__}: {plain(str(error), 300)}") from None
        if answer.status_code in (401, 403, 404):
            remedy = "check the topic's name, and that these credentials may publish to it"
            raise Fatal(f"Pub/Sub answered {answer.status_code}: {plain(answer.text, 200)}", remedy=remedy)
        if answer.status_code != 200:
            raise Transient(f"Pub/Sub answered {answer.status_code}: {plain(answer.text, 200)}")

    def _open(self) -> Any:
        try:
            import google.auth
            import requests
            from google.auth.transport.requests import AuthorizedSession
        except ImportError:
            raise ConfigurationError("Pub/Sub needs Google's library: pip install 'towpath[google]'") from None
        if self._endpoint:
            return requests.Session()
        credentials, _ = google.auth.default(scopes=[_SCOPE])
        return AuthorizedSession(credentials)  # type: ignore[no-untyped-call]  # the library has no types
