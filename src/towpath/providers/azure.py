"""Azure's batch transcription, by its REST API (there is no library for it). It fetches files from URLs, and jobs bear the
order's key as their display name: grade B, for such names need not be unique.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any
from urllib.parse import urlsplit

from towpath.core.errors import ConfigurationError, SchemaInvalid, Transient
from towpath.providers.azure_api import AzureApi, in_json
from towpath.providers.azure_callbacks import challenged, told_job
from towpath.providers.contract import Answer, Counts, Files, Found, Grade, Limits, Order, Phase, Prepared, Result, Vanished
from towpath.providers.refusals import seconds
from towpath.providers.speech_options import address, check_count, check_speech, refs_by_address, speech_options

_KNOWS = frozenset({"locale", "diarization", "word_timestamps"})
_PHASES = {"Succeeded": Phase.COMPLETED, "Failed": Phase.FAILED}


class AzureSpeech:
    name = "AZURE"
    grade = Grade.LISTED
    task_types = frozenset({"transcription"})
    limits = Limits(count=1000)
    reads = frozenset({"https"})
    cancels = True
    prepares_again = False
    submit_seconds = 60.0

    def __init__(
        self,
        *,
        endpoint: str | None = None,
        key: str | None = None,
        webhook_secret: str | None = None,
        keep_hours: int = 48,
        timeout: float = 60.0,
    ) -> None:
        """`endpoint` is such as https://westeurope.api.cognitive.microsoft.com; results stay there for `keep_hours`."""
        self._api = AzureApi(endpoint or "", key or "", timeout)
        self._secret, self._keep_hours = webhook_secret or "", keep_hours

    async def check(self, order: Order | None = None) -> None:
        self._api.check()
        if not 6 <= self._keep_hours <= 31 * 24:
            raise ConfigurationError(f"{self.name} keeps results for 6 hours to 31 days, got {self._keep_hours} hours")
        if order is None:
            return
        wanted = check_speech(self.name, order, _KNOWS, self.reads)
        check_count(self.name, order, self.limits.count)
        refs_by_address(self.name, order)
        if not wanted.locale:
            raise SchemaInvalid(f"{self.name} needs to know the language, such as en-US", path="options.locale")
        if order.output is not None:
            raise SchemaInvalid(
                f"{self.name} keeps results itself until they are fetched, and takes no folder", path="output"
            )

    async def probe(self) -> str:
        in_json(await self._api.ask("GET", "", params={"top": "1"}))
        return "a list of transcriptions"

    async def prepare(self, order: Order, files: Files) -> Prepared:
        return {}

    async def submit(self, order: Order, prepared: Prepared) -> str:
        answer = await self._api.ask("POST", ":submit", json=_request(order, self._keep_hours))
        return _id(answer.headers.get("location") or in_json(answer).get("self", ""))

    async def find(self, order: Order, prepared: Prepared) -> Found | None:
        """The oldest, if somebody has submitted the same order twice."""
        found = [job async for job in self._api.pages("", {"filter": f"displayName eq '{order.key}'"})]
        named = [job for job in found if job.get("displayName") == order.key]
        oldest = min(named, key=lambda job: str(job.get("createdDateTime")), default=None)
        return Found(_id(str(oldest.get("self"))), str(oldest.get("status"))) if oldest else None

    async def poll(self, order: Order, prepared: Prepared, external_id: str) -> Answer:
        response = await self._api.ask("GET", f"/{external_id}")
        job, again = in_json(response), response.headers.get("retry-after")
        status = str(job.get("status"))
        phase = _PHASES.get(status, Phase.RUNNING)
        if phase is Phase.FAILED:
            error = job.get("properties", {}).get("error") or {}
            said = f"{error.get('code', 'Failed')}: {error.get('message', 'Azure gives no reason')}"
            return Answer(status, phase, self._api.told(said))
        if phase is Phase.RUNNING:
            return Answer(status, phase, retry_after=seconds(again) if again else None)
        counts = _counts(await self._report(external_id), order)
        return Answer(status, Phase.PARTIAL if counts.failed else phase, counts=counts)

    async def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        """Failures first, as the report has them; a job whose files all went wrong has succeeded all the same."""
        refs, files = refs_by_address(self.name, order), await self._files(external_id)
        for detail in (await self._report(external_id, files)).get("details", []):
            ref = refs.get(address(str(detail.get("source") or detail.get("sourceUrl"))))
            if ref is not None and detail.get("status") != "Succeeded":
                yield Result(
                    ref, error=self._api.told(str(detail.get("errorMessage") or "no reason")), code=detail.get("errorKind")
                )
        for file in files:
            if file.get("kind") == "Transcription":
                body = await self._api.content(file)
                source = address(str(body.get("source")))  # what opens the link is nobody's to keep
                if source in refs:
                    yield Result(refs[source], body | {"source": source})

    async def cancel(self, order: Order, prepared: Prepared, external_id: str) -> None:
        """The only way is to delete it, and with it what it has made: one that has ended is not touched."""
        try:
            job = in_json(await self._api.ask("GET", f"/{external_id}"))
        except Vanished:
            return
        if str(job.get("status")) not in _PHASES:
            await self._api.ask("DELETE", f"/{external_id}")

    async def clean(self, order: Order, prepared: Prepared) -> None:
        """Nothing was put there; what the job itself has left goes after `keep_hours`."""

    def called_back(self, headers: Mapping[str, str], body: bytes) -> str | None:
        return told_job(self._secret, headers, body)

    def challenge(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        return challenged(self._secret, headers, query)

    async def aclose(self) -> None:
        await self._api.aclose()

    async def _report(self, external_id: str, files: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        for file in files if files is not None else await self._files(external_id):
            if file.get("kind") == "TranscriptionReport":
                return await self._api.content(file)
        return {}

    async def _files(self, external_id: str) -> list[dict[str, Any]]:
        return [file async for file in self._api.pages(f"/{external_id}/files", {})]


def _request(order: Order, keep_hours: int) -> dict[str, Any]:
    wanted = speech_options(order)
    properties: dict[str, Any] = {"timeToLiveHours": keep_hours, "displayFormWordLevelTimestampsEnabled": wanted.words}
    if wanted.speakers is not None:
        properties["diarization"] = {"enabled": True, **({"maxSpeakers": wanted.speakers} if wanted.speakers else {})}
    request: dict[str, Any] = {"displayName": order.key, "locale": wanted.locale, "properties": properties}
    request["contentUrls"] = [given.uri for given in order.inputs]
    return request | ({"model": {"self": order.model}} if order.model else {})


def _counts(report: dict[str, Any], order: Order) -> Counts:
    failed = int(report.get("failedTranscriptionsCount", 0))
    return Counts(len(order.inputs), int(report.get("successfulTranscriptionsCount", len(order.inputs) - failed)), failed)


def _id(address: str) -> str:
    """The job's, from where it is."""
    found = urlsplit(address).path.rstrip("/").rpartition("/")[2]
    if not found:
        raise Transient("AZURE took a job and did not say where it is")
    return found
