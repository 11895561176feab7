"""Shapes of Azure's Speech to text REST API 2024-11-15, as its published description has them.

`Submission` is a `Transcription` as it may be sent: what the description calls read-only is not in it. The report and the
transcripts are files, which that description leaves out; they are as Microsoft's documentation and samples have them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AnyUrl, BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

NonEmpty = Annotated[str, StringConstraints(min_length=1)]
CustomKey = Annotated[str, StringConstraints(max_length=64)]
CustomValue = Annotated[str, StringConstraints(max_length=256)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)

    def body(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class EntityReference(_Shape):
    self_: AnyUrl = Field(alias="self")


class EntityError(_Shape):
    code: str
    message: str


class Diarization(_Shape):
    enabled: bool
    max_speakers: int | None = Field(None, ge=2, le=35)


class LanguageIdentification(_Shape):
    candidate_locales: list[str]
    mode: Literal["Continuous", "Single"] = "Continuous"


class Properties(_Shape):
    time_to_live_hours: int = Field(ge=6, le=31 * 24)
    word_level_timestamps_enabled: bool | None = None
    display_form_word_level_timestamps_enabled: bool | None = None
    channels: list[int] | None = None
    destination_container_url: AnyUrl | None = None
    punctuation_mode: Literal["None", "Dictated", "Automatic", "DictatedAndAutomatic"] | None = None
    profanity_filter_mode: Literal["None", "Removed", "Tags", "Masked"] | None = None
    diarization: Diarization | None = None
    language_identification: LanguageIdentification | None = None


class Submission(_Shape):
    display_name: NonEmpty
    locale: NonEmpty
    properties: Properties
    content_urls: list[AnyUrl] | None = Field(None, min_length=1, max_length=1000)
    content_container_url: AnyUrl | None = None
    model: EntityReference | None = None
    description: str | None = None
    custom_properties: dict[CustomKey, CustomValue] | None = Field(None, max_length=10)

    @model_validator(mode="after")
    def _one_source(self) -> Submission:
        if (self.content_urls is None) == (self.content_container_url is None):
            raise ValueError("set either contentUrls or contentContainerUrl")
        return self


class PropertiesTold(Properties):
    duration_milliseconds: int | None = None
    error: EntityError | None = None


class Links(_Shape):
    files: AnyUrl


class Transcription(_Shape):
    self_: AnyUrl = Field(alias="self")
    display_name: NonEmpty
    locale: NonEmpty
    properties: PropertiesTold
    links: Links
    model: EntityReference | None = None
    custom_properties: dict[CustomKey, CustomValue] | None = None
    status: str
    """NotStarted, Running, Succeeded or Failed; a string, so that one nobody has heard of can be told."""
    created_date_time: datetime
    last_action_date_time: datetime


class FileLinks(_Shape):
    content_url: AnyUrl


class FileProperties(_Shape):
    size: int


class File(_Shape):
    self_: AnyUrl = Field(alias="self")
    name: str
    kind: Literal["Transcription", "TranscriptionReport"]
    links: FileLinks
    properties: FileProperties
    created_date_time: datetime


class Page(_Shape):
    values: list[Transcription] | list[File]
    next: AnyUrl | None = Field(None, alias="@nextLink")


class Error(_Shape):
    code: Literal[
        "InvalidRequest",
        "InvalidArgument",
        "InternalServerError",
        "ServiceUnavailable",
        "NotFound",
        "Unauthorized",
        "TooManyRequests",
    ]
    message: str


class ReportDetail(_Shape):
    source: str
    status: Literal["Succeeded", "Failed"]
    error_kind: str | None = None
    error_message: str | None = None


class Report(_Shape):
    successful_transcriptions_count: int
    failed_transcriptions_count: int
    details: list[ReportDetail]
