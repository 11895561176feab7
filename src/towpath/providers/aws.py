"""Amazon Transcribe through boto3. A job has one file, which AWS fetches from S3, and bears our name: grade A.

Without `order.output` the transcript lies in a bucket of the service, behind a link that lives 15 minutes and is made anew
whenever the job is asked for; with it, in a bucket of yours.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from towpath.core.errors import Fatal, SchemaInvalid
from towpath.providers.aws_clients import BotoClients
from towpath.providers.aws_errors import Conflict
from towpath.providers.contract import Answer, Counts, Files, Found, Grade, Limits, Order, Phase, Prepared, Result, Vanished
from towpath.providers.http_client import document, new_client, parsed
from towpath.providers.refusals import told
from towpath.providers.speech_options import check_count, check_speech, speech_options

if TYPE_CHECKING:
    import httpx

_PHASES = {"COMPLETED": Phase.COMPLETED, "FAILED": Phase.FAILED}
_KNOWS = frozenset({"locale", "diarization", "word_timestamps"})
_USUAL_SPEAKERS = 10  # AWS wants a number where none was given


class AwsTranscribe:
    name = "AWS"
    grade = Grade.NAMED
    task_types = frozenset({"transcription"})
    limits = Limits(count=1, bytes=2 * 1024**3)
    reads = frozenset({"s3"})
    cancels = False  # a job that has not ended cannot even be deleted
    prepares_again = False
    submit_seconds = 60.0

    def __init__(
        self,
        *,
        region: str | None = None,
        endpoint_url: str | None = None,
        access_key_id: str | None = None,
        secret_access_key: str | None = None,
        session_token: str | None = None,
        timeout: float = 60.0,
    ) -> None:
        self._boto = BotoClients(region, endpoint_url, (access_key_id, secret_access_key, session_token), timeout)
        self._timeout = timeout
        self._links: httpx.AsyncClient | None = None

    async def check(self, order: Order | None = None) -> None:
        await self._boto.check()
        if order is None:
            return
        check_speech(self.name, order, _KNOWS, self.reads)
        check_count(self.name, order, self.limits.count)
        if order.output is not None and not _place(order.output)[0]:
            raise SchemaInvalid(
                f"a folder such as s3://bucket/transcripts/ is expected, got {order.output!r}", path="output"
            )

    async def probe(self) -> str:
        await self._boto.call("transcribe", "list_transcription_jobs", MaxResults=1)
        return "a list of transcription jobs"

    async def prepare(self, order: Order, files: Files) -> Prepared:
        return {}

    async def submit(self, order: Order, prepared: Prepared) -> str:
        try:
            await self._boto.call("transcribe", "start_transcription_job", **_request(order))
        except Conflict:
            media = (await self._job(order.key)).get("Media", {}).get("MediaFileUri")
            if media != order.inputs[0].uri:
                raise Fatal(
                    f"{self.name} has a job named {order.key!r} that transcribes another file",
                    remedy="find out who else names jobs in this account, and delete that one if nobody needs it",
                ) from None
        return order.key

    async def find(self, order: Order, prepared: Prepared) -> Found | None:
        try:
            job = await self._job(order.key)
        except Vanished:
            return None
        return Found(order.key, _status(job))

    async def poll(self, order: Order, prepared: Prepared, external_id: str) -> Answer:
        job = await self._job(external_id)
        phase = _PHASES.get(_status(job), Phase.RUNNING)
        counts = Counts(1, int(phase is Phase.COMPLETED), int(phase is Phase.FAILED)) if phase.ended else None
        where = "s3://{}/{}".format(*_file(order)) if order.output and phase is Phase.COMPLETED else None
        error = _reason(job) if phase is Phase.FAILED else None
        return Answer(_status(job), phase, error, counts=counts, output_uri=where)

    async def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        job, ref = await self._job(external_id), order.inputs[0].ref
        if _status(job) == "FAILED":
            yield Result(ref, error=_reason(job), code="FAILED")
        elif _status(job) == "COMPLETED":
            yield Result(ref, await self._transcript(order, job))

    async def cancel(self, order: Order, prepared: Prepared, external_id: str) -> None:
        """There is no way to."""

    async def clean(self, order: Order, prepared: Prepared) -> None:
        """Nothing was put there."""

    def called_back(self, headers: Mapping[str, str], body: bytes) -> str | None:
        return None  # EventBridge does not sign what it sends

    async def aclose(self) -> None:
        links, self._links = self._links, None
        if links is not None:
            await links.aclose()
        self._boto.close()

    async def _transcript(self, order: Order, job: dict[str, Any]) -> Any:
        if order.output:
            bucket, key = _file(order)
            answer = await self._boto.call("s3", "get_object", Bucket=bucket, Key=key)
            return parsed(self.name, await self._boto.download(answer["Body"].read))
        if self._links is None:
            self._links = new_client("aws")
        return await document(self._links, self.name, job["Transcript"]["TranscriptFileUri"], self._timeout)

    async def _job(self, name: str) -> dict[str, Any]:
        answer = await self._boto.call("transcribe", "get_transcription_job", TranscriptionJobName=name)
        job: dict[str, Any] = answer["TranscriptionJob"]
        return job


def _request(order: Order) -> dict[str, Any]:
    wanted = speech_options(order)
    request: dict[str, Any] = {"TranscriptionJobName": order.key, "Media": {"MediaFileUri": order.inputs[0].uri}}
    request |= {"LanguageCode": wanted.locale} if wanted.locale else {"IdentifyLanguage": True}
    if wanted.speakers is not None:
        request["Settings"] = {"ShowSpeakerLabels": True, "MaxSpeakerLabels": wanted.speakers or _USUAL_SPEAKERS}
    if order.model:
        request["ModelSettings"] = {"LanguageModelName": order.model}
    if order.output:
        bucket, key = _file(order)
        request |= {"OutputBucketName": bucket, "OutputKey": key}
    return request


def _place(output: str) -> tuple[str, str]:
    parts = urlsplit(output)
    if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment:
        return "", ""
    return parts.netloc, parts.path.strip("/")


def _file(order: Order) -> tuple[str, str]:
    bucket, folder = _place(order.output or "")
    return bucket, f"{folder}/{order.key}.json" if folder else f"{order.key}.json"


def _status(job: dict[str, Any]) -> str:
    return str(job.get("TranscriptionJobStatus", "QUEUED"))


def _reason(job: dict[str, Any]) -> str:
    return told(str(job.get("FailureReason", ""))) or "AWS gives no reason"
