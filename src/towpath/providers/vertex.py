"""Vertex AI's batch prediction with Gemini models. Requests and results are objects in a bucket of one's own.

A row of results repeats its request and names it in no other way, so every request bears its ref as a label.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from towpath.core.encoding import plain
from towpath.core.errors import Fatal, SchemaInvalid, Transient
from towpath.providers.bucket import Bucket
from towpath.providers.chat_bodies import Untranslatable
from towpath.providers.completions import REFUSED, Requests, refused, results
from towpath.providers.contract import Files, Limits, Order, Prepared, Result
from towpath.providers.google_batches import GoogleBatches
from towpath.providers.google_objects import GoogleObjects
from towpath.providers.google_words import request_of, result_of
from towpath.providers.http_failures import in_time
from towpath.providers.spooling import chunks_of, spooled

if TYPE_CHECKING:
    from google.genai.types import ListBatchJobsConfigDict

_INPUT, _OUTPUT = "input_uri", "output_uri"
_LONGEST_NAME = 128
_LABEL = "towpath_ref"
_PLAIN = re.compile(r"[a-z0-9_-]{1,63}")
_LONGEST_LABEL, _MOST_LABELS = 63, 8


class Vertex(GoogleBatches):
    name = "VERTEX"
    limits = Limits(count=200_000, bytes=900_000_000)
    """It takes a file of 1 GB; every line of ours gets a label besides."""
    reads = frozenset({"gs"})
    _missing = "set GOOGLE_CLOUD_PROJECT, or give project, and log in with gcloud auth application-default login"

    def __init__(
        self,
        *,
        project: str | None = None,
        location: str | None = None,
        credentials: Any = None,
        base_url: str | None = None,
        bucket: Bucket | None = None,
        timeout: float = 60.0,
        upload_timeout: float = 900.0,
    ) -> None:
        """What is not given is the library's: GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION, and application default
        credentials. `credentials` are of `google.auth`; `bucket` reads and writes the objects, usually with obstore."""
        google = {"project": project, "location": location, "credentials": credentials, "vertexai": True}
        super().__init__(base_url, timeout, upload_timeout, **google)
        self._bucket: Bucket = GoogleObjects() if bucket is None else bucket

    async def check(self, order: Order | None = None) -> None:
        if isinstance(self._bucket, GoogleObjects):
            self._bucket.check()
        await super().check(order)
        if order is not None and not re.fullmatch(r"gs://[^/]+/.*", order.output or "", re.DOTALL):
            raise SchemaInvalid(
                f"{self.name} works in a folder such as gs://bucket/folder/, got {order.output!r}", path="output"
            )

    def _display_name(self, order: Order) -> str:
        """Keys may be longer than names."""
        if len(order.key) <= _LONGEST_NAME:
            return order.key
        return f"{order.key[:95]}-{hashlib.sha256(order.key.encode()).hexdigest()[:32]}"

    def _narrowed(self, order: Order) -> ListBatchJobsConfigDict:
        return {**super()._narrowed(order), "filter": f'display_name="{self._display_name(order)}"'}

    async def prepare(self, order: Order, files: Files) -> Prepared:
        def line(ref: str, body: Mapping[str, Any]) -> dict[str, Any]:
            return {"request": {**request_of(body), "labels": labels_of(ref)}}

        folder = f"{(order.output or '').rstrip('/')}/{order.key}"
        requests = Requests(self.name, order, files, line)
        async with spooled(requests.lines()) as file, self._calling("writing the requests", self._upload_timeout):
            await self._bucket.write(f"{folder}/requests.jsonl", chunks_of(file))
        return {_INPUT: f"{folder}/requests.jsonl", _OUTPUT: f"{folder}/results", REFUSED: requests.refused}

    async def submit(self, order: Order, prepared: Prepared) -> str:
        async with self._calling("creating the job"):
            job = await self._client.aio.batches.create(
                model=order.model,
                src=prepared[_INPUT],
                config={"display_name": self._display_name(order), "dest": prepared[_OUTPUT]},
            )
        if not job.name:
            raise Transient(f"{self.name} did not say which job it has made")
        return job.name

    async def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        job = await self._get(external_id)
        written = (job.output_info.gcs_output_directory if job.output_info else None) or prepared[_OUTPUT]
        async with self._calling("listing results"), aclosing(self._bucket.list(f"{written.rstrip('/')}/")) as found:
            names = sorted([uri async for uri in found if re.search(r"/predictions?[^/]*\.jsonl$", uri)])
        for uri in names:
            async with aclosing(results(self.name, self._content(uri), _result)) as rows:
                async for result in rows:
                    yield result
        for result in refused(prepared):
            yield result

    async def _content(self, uri: str) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._bucket.open(uri)) as chunks:
            async for chunk in in_time(chunks, lambda: self._calling("reading results")):
                yield chunk

    async def clean(self, order: Order, prepared: Prepared) -> None:
        async with self._calling("deleting the requests"):
            await self._bucket.delete(prepared[_INPUT])


def labels_of(ref: str) -> dict[str, str]:
    """Labels are of 63 of `[a-z0-9_-]`: the ref, or as many as it takes to encode it."""
    if _PLAIN.fullmatch(ref):
        return {_LABEL: ref}
    encoded = base64.b32encode(ref.encode()).decode().rstrip("=").lower()
    parts = [encoded[at : at + _LONGEST_LABEL] for at in range(0, len(encoded), _LONGEST_LABEL)]
    if len(parts) > _MOST_LABELS:
        raise Untranslatable(f"its id is too long: {_MOST_LABELS * _LONGEST_LABEL * 5 // 8} bytes are allowed")
    return {f"{_LABEL}_{number}": part for number, part in enumerate(parts)}


def ref_of(labels: Mapping[str, Any]) -> str:
    if isinstance(plain_ref := labels.get(_LABEL), str):
        return plain_ref
    encoded = "".join(str(labels.get(f"{_LABEL}_{number}") or "") for number in range(_MOST_LABELS)).upper()
    try:
        ref = base64.b32decode(encoded + "=" * (-len(encoded) % 8)).decode()
    except ValueError:
        ref = ""
    if not ref:
        raise Fatal("VERTEX's results do not repeat the labels of their requests: nobody can tell which is whose")
    return ref


def _result(line: Mapping[str, Any]) -> Result:
    ref, status = ref_of((line.get("request") or {}).get("labels") or {}), line.get("status")
    if status:
        return Result(ref, error=plain(str(status), 1000), code="failed")
    return result_of(ref, line.get("response"))
