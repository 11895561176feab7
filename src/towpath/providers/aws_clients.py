"""Clients of boto3: made when they are first needed, called in threads, and never trying again by themselves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from towpath.core.errors import ConfigurationError
from towpath.providers.aws_errors import translated
from towpath.providers.http_client import DOWNLOADS
from towpath.providers.refusals import patience

_NAME = "AWS"


class BotoClients:
    def __init__(
        self,
        region: str | None,
        endpoint_url: str | None,
        credentials: tuple[str | None, str | None, str | None],
        timeout: float,
    ) -> None:
        self._region, self._endpoint, self._credentials, self._timeout = region, endpoint_url, credentials, timeout
        self._session: Any = None
        self._clients: dict[str, Any] = {}
        self._making = threading.Lock()

    async def check(self) -> None:
        """That there are credentials. boto3 may look for them in files, and ask the machine it runs on."""
        async with patience(_NAME, self._timeout):
            await asyncio.to_thread(self._check)

    async def call(self, service: str, method: str, **params: Any) -> Any:
        return await self._in_thread(lambda: getattr(self._client(service), method)(**params), self._timeout)

    async def download(self, read: Callable[[], Any]) -> Any:
        return await self._in_thread(read, self._timeout * DOWNLOADS)

    async def _in_thread(self, call: Callable[[], Any], limit: float) -> Any:
        async with patience(_NAME, limit):
            return await asyncio.to_thread(translated, _NAME, call)

    def close(self) -> None:
        clients, self._clients = self._clients, {}
        for client in clients.values():
            client.close()

    def _check(self) -> None:
        self._client("transcribe")
        if translated(_NAME, self._session.get_credentials) is None:
            raise ConfigurationError(f"{_NAME} has no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")

    def _client(self, service: str) -> Any:
        with self._making:
            if service not in self._clients:
                _boto3()
                self._clients[service] = translated(_NAME, lambda: self._made(service))
            return self._clients[service]

    def _made(self, service: str) -> Any:
        boto3, config = _boto3()
        if self._session is None:
            key, secret, token = self._credentials
            self._session = boto3.Session(key, secret, token, self._region)
        options = config(
            connect_timeout=min(10.0, self._timeout),
            read_timeout=self._timeout,
            retries={"total_max_attempts": 1},
            s3={"addressing_style": "path"} if self._endpoint else None,
        )
        return self._session.client(service, endpoint_url=self._endpoint, config=options)


def _boto3() -> tuple[Any, Any]:
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise ConfigurationError("Amazon Transcribe needs boto3: pip install 'towpath[aws]'") from None
    return boto3, Config
