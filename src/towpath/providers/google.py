"""Google's Speech-to-Text v2, batch recognition. It fetches files from Cloud Storage and writes results to a folder that
bears the order's key; operations are listed with the folder they write to: grade B.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any
from urllib.parse import urlsplit

from towpath.core.errors import Fatal, SchemaInvalid, Transient
from towpath.providers.contract import Answer, Counts, Files, Found, Grade, Limits, Order, Phase, Prepared, Result, Vanished
from towpath.providers.google_client import GoogleClients
from towpath.providers.google_messages import (
    batch_request,
    code_name,
    folder_of,
    metadata_of,
    response_of,
    says_where,
    status_of,
    writes_to,
)
from towpath.providers.http_client import parsed
from towpath.providers.refusals import told
from towpath.providers.speech_options import check_count, check_speech, refs_by_address

_KNOWS = frozenset({"locale", "diarization", "word_timestamps", "window"})
_CANCELLED = 1  # of google.rpc.Code
_PAGE = 100


class GoogleSpeech:
    name = "GOOGLE"
    grade = Grade.LISTED
    task_types = frozenset({"transcription"})
    limits = Limits(count=15)
    reads = frozenset({"gs"})
    cancels = True
    prepares_again = False
    submit_seconds = 60.0

    def __init__(
        self,
        *,
        project: str | None = None,
        location: str = "global",
        endpoint: str | None = None,
        storage_endpoint: str | None = None,
        credentials: Any = None,
        timeout: float = 60.0,
    ) -> None:
        """`credentials` are of google.auth; without them it finds those of the environment, and usually the project, too."""
        self._clients = GoogleClients(project, location, endpoint, storage_endpoint, credentials, timeout)

    async def check(self, order: Order | None = None) -> None:
        await self._clients.check()
        if order is None:
            return
        wanted = check_speech(self.name, order, _KNOWS, self.reads)
        check_count(self.name, order, self.limits.count)
        refs_by_address(self.name, order)
        if not wanted.locale:
            remedy = "such as en-US, or auto for models that find out"
            raise SchemaInvalid(f"{self.name} needs to know the language, {remedy}", path="options.locale")
        if order.options.get("window") not in (None, "24h"):
            raise SchemaInvalid(f"{self.name} works at once, or within 24h for less", path="options.window")
        output = urlsplit(order.output or "")
        if output.scheme != "gs" or not output.netloc or output.query or output.fragment:
            raise SchemaInvalid(
                f"a folder such as gs://bucket/transcripts/ is expected, got {order.output!r}", path="output"
            )

    async def probe(self) -> str:
        await self._clients.check()
        try:
            await self._page("", 1)
        except Vanished as error:
            raise Fatal(str(error), remedy="check the endpoint, the project and the location") from None
        return "a list of operations"

    async def prepare(self, order: Order, files: Files) -> Prepared:
        return {}

    async def submit(self, order: Order, prepared: Prepared) -> str:
        await self._clients.check()
        request = batch_request(order, f"{self._clients.place}/recognizers/_")
        try:
            started = await self._clients.call(lambda speech, options: speech.batch_recognize(request, **options))
        except Vanished as error:
            raise Fatal(str(error), remedy="check the project and the location") from None
        return str(started.operation.name)

    async def find(self, order: Order, prepared: Prepared) -> Found | None:
        """None only if every operation says where it writes: one that does not could be the one."""
        await self._clients.check()
        token, silent = "", 0
        while True:
            page = await self._page(token)
            for operation in page.operations:
                metadata = metadata_of(operation)
                if writes_to(metadata, folder_of(order)):
                    return Found(operation.name, status_of(operation))
                silent += not says_where(metadata)
            token = page.next_page_token
            if not token and silent:
                raise Transient(f"{self.name} lists {silent} operations that do not say where they write to")
            if not token:
                return None

    async def poll(self, order: Order, prepared: Prepared, external_id: str) -> Answer:
        operation = await self._operation(external_id)
        status, where = status_of(operation), folder_of(order)
        if not operation.done:
            return Answer(status, Phase.RUNNING, detail={"progress_percent": metadata_of(operation).progress_percent})
        if operation.WhichOneof("result") == "error":
            phase = Phase.CANCELLED if operation.error.code == _CANCELLED else Phase.FAILED
            return Answer(status, phase, told(operation.error.message) or status)
        results = response_of(operation).results
        failed = sum(1 for result in results.values() if result.error.code)
        counts = Counts(len(order.inputs), len(results) - failed, failed)
        return Answer(status, Phase.PARTIAL if failed else Phase.COMPLETED, counts=counts, output_uri=where)

    async def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        operation = await self._operation(external_id)
        if operation.WhichOneof("result") != "response":
            return
        refs = {given.uri: given.ref for given in order.inputs}
        for uri, result in response_of(operation).results.items():
            if uri not in refs:
                continue
            if result.error.code:
                yield Result(refs[uri], error=told(result.error.message) or "no reason", code=code_name(result.error.code))
            else:
                yield Result(refs[uri], await self._transcript(result.cloud_storage_result.uri or result.uri))

    async def cancel(self, order: Order, prepared: Prepared, external_id: str) -> None:
        """Best effort, as Google has it: an operation may end all the same."""
        try:
            await self._clients.call(lambda speech, options: speech.cancel_operation({"name": external_id}, **options))
        except Vanished:
            return

    async def clean(self, order: Order, prepared: Prepared) -> None:
        """Nothing was put there; the transcripts are in a folder of yours."""

    def called_back(self, headers: Mapping[str, str], body: bytes) -> str | None:
        return None  # Google calls nobody back

    async def aclose(self) -> None:
        await self._clients.aclose()

    async def _page(self, token: str, size: int = _PAGE) -> Any:
        asked = {"name": self._clients.place, "page_size": size, "page_token": token}
        return await self._clients.call(lambda speech, options: speech.list_operations(asked, **options))

    async def _operation(self, name: str) -> Any:
        return await self._clients.call(lambda speech, options: speech.get_operation({"name": name}, **options))

    async def _transcript(self, uri: str) -> Any:
        try:
            return parsed(self.name, await self._clients.read(uri))
        except Vanished as error:
            raise Transient(f"the transcript at {uri} is not there, or not yet: {error}") from None
