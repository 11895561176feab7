"""The Gemini API's batches, in its file mode: requests are uploaded, and results are a file to download."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, cast

from towpath.core.encoding import plain
from towpath.core.errors import Transient
from towpath.providers.completions import REFUSED, Requests, refused, results
from towpath.providers.contract import Files, Limits, Order, Prepared, Result
from towpath.providers.google_batches import GoogleBatches
from towpath.providers.google_words import request_of, result_of
from towpath.providers.spooling import chunks_of, spooled

_FILE = "file_name"
_TOLERANCE = 300


class Gemini(GoogleBatches):
    name = "GEMINI"
    limits = Limits(bytes=1_900_000_000)
    """It takes files of 2 GB; every line of ours gets a little longer."""
    _missing = "set GEMINI_API_KEY or GOOGLE_API_KEY, or give api_key"

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        webhook_secret: str | None = None,
        timeout: float = 60.0,
        upload_timeout: float = 900.0,
    ) -> None:
        """What is not given is the library's: GEMINI_API_KEY or GOOGLE_API_KEY. `webhook_secret` is that of a webhook which
        is registered for the whole project; those that are given with one batch are signed in another way."""
        super().__init__(base_url, timeout, upload_timeout, api_key=api_key, vertexai=False)
        self._secret = webhook_secret

    async def prepare(self, order: Order, files: Files) -> Prepared:
        def line(ref: str, body: Mapping[str, Any]) -> dict[str, Any]:
            return {"key": ref, "request": request_of(body)}

        requests = Requests(self.name, order, files, line)
        async with spooled(requests.lines()) as file, self._calling("uploading the requests", self._upload_timeout):
            # In a thread: the library sleeps between its attempts, also where it is asynchronous.
            made = await asyncio.to_thread(
                self._client.files.upload,
                file=cast("Any", file),
                config={"display_name": self._display_name(order), "mime_type": "jsonl"},
            )
        if not made.name:
            raise Transient(f"{self.name} did not say where it has put the requests")
        return {_FILE: made.name, REFUSED: requests.refused}

    async def submit(self, order: Order, prepared: Prepared) -> str:
        async with self._calling("creating the batch"):
            job = await self._client.aio.batches.create(
                model=order.model,
                src={"file_name": prepared[_FILE]},
                config={"display_name": self._display_name(order)},
            )
        if not job.name:
            raise Transient(f"{self.name} did not say which batch it has made")
        return job.name

    async def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        job = await self._get(external_id)
        name = job.dest.file_name if job.dest else None
        if name:
            async with spooled() as file:
                async with self._calling("downloading the results", self._upload_timeout):
                    await self._client.aio.files.download(file=name, destination=cast("Any", file))
                file.seek(0)
                async with aclosing(results(self.name, chunks_of(file), _result)) as found:
                    async for result in found:
                        yield result
        for result in refused(prepared):
            yield result

    async def clean(self, order: Order, prepared: Prepared) -> None:
        """Files go by themselves after two days. One that is gone is answered as if it were somebody else's."""
        from google.genai.errors import ClientError

        async with self._calling("deleting the requests"):
            try:
                await self._client.aio.files.delete(name=prepared[_FILE])
            except ClientError as error:
                if error.code not in (403, 404):
                    raise

    def called_back(self, headers: Mapping[str, str], body: bytes) -> str | None:
        """Standard Webhooks, as Google signs them with the secret of a registered webhook."""
        given = {name.lower(): value for name, value in headers.items()}
        message_id, sent_at, signatures = (given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
        if not (self._secret and message_id and sent_at.isascii() and sent_at.isdigit()):
            return None
        if abs(time.time() - int(sent_at[:15])) > _TOLERANCE:
            return None
        try:
            secret = base64.b64decode(self._secret.removeprefix("whsec_"), validate=True)
            digest = hmac.new(secret, f"{message_id}.{sent_at}.".encode() + body, hashlib.sha256).digest()
            expected = b"v1," + base64.b64encode(digest)
            if not any(hmac.compare_digest(expected, one.encode()) for one in signatures.split()):
                return None
            event = json.loads(body)
            name = str(event["data"]["id"]) if str(event["type"]).startswith("batch.") else ""
        except (ValueError, KeyError, TypeError):
            return None
        return (name if name.startswith("batches/") else f"batches/{name}") if name else None


def _result(line: Mapping[str, Any]) -> Result:
    ref, error = str(line.get("key", "")), line.get("error")
    if isinstance(error, dict):
        code = error.get("status") or error.get("code")
        return Result(ref, error=plain(str(error.get("message") or "no reason was given"), 1000), code=str(code))
    return result_of(ref, line.get("response"))
