"""Shapes of the recordings API."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from towpath.http.shapes import Answer, Moment, Request, Text, any_case
from towpath.recordings.stored import LONGEST_TITLE

RecordingId = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$")]
StatusName = Literal["PENDING", "PROCESSING", "SUMMARIZING", "COMPLETED", "FAILED", "CANCELLED"]
AskedStatus = Annotated[StatusName, any_case(StatusName)]
JobStatusName = Literal["queued", "processing", "completed", "failed", "cancelled"]
JobTypeName = Literal["transcribe", "summarize", "reprocess_transcription", "reprocess_summary"]
QueueTypeName = Literal["transcription", "summary"]
FormatName = Literal["txt", "srt", "vtt", "json", "md", "docx", "pdf"]
Template = Annotated[
    Annotated[Text, Field(min_length=1, max_length=100)] | None,
    Field(description="How it is summarised: the id of a template; null: the usual way."),
]
Model = Annotated[
    Annotated[str, Field(min_length=1, max_length=100)] | None,
    Field(description="Who hears it, such as whisper/small or service/NAME; null: whoever does by default."),
]
Tags = Annotated[list[Annotated[Text, Field(min_length=1, max_length=200)]], Field(max_length=30)]
Title = Annotated[Text, Field(min_length=1, max_length=LONGEST_TITLE)]
Language = Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$", description="Such as en or en-GB.")]
Priority = Annotated[int, Field(ge=0, le=3, description="0 (first, needs the scope `priority`) to 3 (last).")]
Eta = Annotated[
    tuple[float, float] | None,
    Field(description="Seconds until it is done, at least and at most; null: `waiting_for` says why."),
]


class Uploaded(Answer):
    """An upload was taken; it is transcribed in its turn."""

    id: Annotated[
        str | None,
        Field(description="The recording's id. Null if making it takes long: `GET /api/uploads/{upload_id}` tells when."),
    ]
    job_id: Annotated[str | None, Field(description="The job that transcribes it; null as long as there is no recording.")]
    upload_id: Annotated[str, Field(description="The upload's id, which is also that of the file.")]


class AudioProgress(Answer):
    """In seconds of audio, once the audio has been decoded."""

    current: float
    total: float | None


class ProcessingJob(Answer):
    """A job that works on a recording."""

    id: str
    recording_id: str
    recording_title: str
    job_status: JobStatusName
    job_type: JobTypeName
    queue_type: QueueTypeName
    position: Annotated[
        int | None,
        Field(description="How many recordings are begun before it, and one: 1 is next; null once it is begun."),
    ]
    position_is_more: Annotated[bool, Field(description="Whether more than that are before it: over 1,000.")]
    is_new_upload: bool
    error_message: str | None
    error_remedy: str | None
    created_at: Moment
    started_at: Moment | None
    completed_at: Moment | None
    progress: AudioProgress | None
    eta_seconds: Eta
    waiting_for: Annotated[str | None, Field(description="Why it waits, or why there is no estimate.")]


class DeletedJob(Answer):
    deleted: int
    recording_deleted: Annotated[bool, Field(description="Whether it was an upload that had come to nothing yet.")]


class Cleared(Answer):
    deleted: int


class Recording(Answer):
    """Status, progress and error are told from the recording's jobs at the moment of the answer."""

    id: str
    title: str
    status: StatusName
    tenant: str
    file_name: str
    media_type: str
    bytes: int
    duration: Annotated[float | None, Field(description="Seconds; null until the audio has been decoded.")]
    language: str | None
    model: Annotated[str | None, Field(description="Who was chosen to hear it; null: whoever does by default.")]
    speakers: bool
    auto_summary: bool
    template: Template
    tags: Annotated[list[str], Field(description="What people sort it by.")]
    extension: Annotated[str | None, Field(description="How the file's name ends, such as mp3.")]
    duplicates: Annotated[int, Field(description="How many other recordings of the tenant have the very same content.")]
    duplicate_of: Annotated[str | None, Field(description="The oldest of those, if that is not this one.")]
    creator: str | None
    created_at: Moment
    has_transcript: bool
    has_summary: bool
    warning: str | None
    error: Annotated[str | None, Field(description="Why its newest job failed.")]
    needs_retry: Annotated[
        bool,
        Field(description="Whether nothing comes of it by itself: its newest job failed, or its first one was stopped."),
    ]
    job: Annotated[ProcessingJob | None, Field(description="The job that the status comes from; null: none is left.")]


class JobQueueStatus(Answer):
    jobs: list[ProcessingJob]
    recordings: Annotated[list[Recording], Field(description="Those that the jobs work on, each once, newest first.")]


class Alike(Answer):
    """The newest recording of a content, if there is one."""

    recording: Recording | None


class TranscriptInfo(Answer):
    id: str
    engine: str
    language: str | None
    lines: int
    took_seconds: float | None
    cost_cents: Annotated[float | None, Field(description="0 for what was heard on this machine; null: not known.")]
    unplaced_edits: Annotated[int, Field(description="Corrections of an older transcript that found no line in this one.")]
    created_at: Moment


class Summary(Answer):
    """`extractive` is made of the transcript's own sentences, `chat` was written by a model."""

    text: str
    method: Literal["extractive", "chat"]
    template: Annotated[str | None, Field(description="What the template was called that it follows.")]
    label: Annotated[str, Field(description="For people: how it was made.")]
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_cents: float | None
    took_seconds: float | None
    outdated: Annotated[bool, Field(description="Whether the transcript is newer than this summary.")]
    created_at: Moment


class RecordingDetail(Recording):
    transcript: TranscriptInfo | None
    summary: Summary | None
    jobs: list[ProcessingJob]


class Segment(Answer):
    """One line: seconds, and what was said. `edited` lines differ from what the engine heard."""

    number: int
    start: float
    end: float
    speaker: Annotated[str | None, Field(description="Who says it, by name; the same name is the same person throughout.")]
    speaker_number: int | None
    text: str
    edited: bool
    heard: Annotated[str, Field(description="What the engine heard, also if somebody edited the line.")]
    speaker_heard: Annotated[int | None, Field(description="The number of the speaker whose voice it was taken for.")]


class UnplacedEdit(Answer):
    """A correction of an older transcript that found no line in the present one. It is kept until it is dismissed."""

    id: str
    start: float
    end: float
    heard: Annotated[str, Field(description="What the engine had heard then.")]
    text: Annotated[str | None, Field(description="What somebody made of it; null: only the speaker was named.")]
    speaker: str | None
    edited_by: str | None


class Speaker(Answer):
    """Somebody who speaks in a recording."""

    number: int
    name: Annotated[str, Field(description="As lines have it: what somebody called them, or their number in words.")]
    named: bool
    lines: int
    seconds: float


class Transcript(Answer):
    recording_id: str
    engine: str
    language: str | None
    duration: float | None
    text: str
    segments: list[Segment]
    speakers: Annotated[list[Speaker], Field(description="Who speaks in the whole of it, whatever was searched for.")]
    growing: Annotated[
        bool,
        Field(
            description="Whether it is still being heard: lines come, in any order, and get other numbers when it is whole. "
            "What is corrected meanwhile stays corrected."
        ),
    ]
    unplaced_edits: list[UnplacedEdit]


class Waveform(Answer):
    peaks: Annotated[
        str | None,
        Field(
            description="Base64 of a byte for each of at most 2,000 equal stretches: its loudest moment, from 0 to 255. "
            "null: not there yet; empty: there is none."
        ),
    ]


class RecordingChange(Request):
    """What is left out stays as it is."""

    title: Title | None = None
    tags: Annotated[Tags | None, Field(description="These and no others. Capitals do not tell two tags apart.")] = None


class Tag(Answer):
    tag: str
    recordings: int


class SummaryTemplate(Answer):
    """A way to summarise."""

    id: str
    name: str
    prompt: Annotated[str, Field(description="What a chat model is asked to make of a transcript.")]
    own: Annotated[bool, Field(description="Whether people have written it; the others come along and stay as they are.")]


class Templates(Answer):
    items: list[SummaryTemplate]
    followed: Annotated[bool, Field(description="Whether a chat service is configured. Without one, templates are refused.")]


class TemplateText(Request):
    name: Annotated[Text, Field(min_length=1, max_length=100, pattern=r"\S")]
    prompt: Annotated[Text, Field(min_length=1, max_length=8000, pattern=r"\S")]


class LineChange(Request):
    """`text: null` brings back what was heard, and `speaker: null` whose voice that was taken for; a field that is left out
    stays as it is. A `speaker` whom nobody is called yet is somebody new."""

    text: Annotated[Text | None, Field(max_length=10_000)] = None
    speaker: Annotated[Text | None, Field(max_length=100)] = None
    was: Annotated[
        Text | None,
        Field(max_length=20_000, description="The line's text as it was read; 409 if it says something else by now."),
    ] = None


class SpeakerChange(Request):
    name: Annotated[Text | None, Field(max_length=100, description="null: their number again.")]


class SpeakerMerge(Request):
    into: Annotated[int, Field(ge=1, le=2**31 - 1, description="The number of the speaker who says all of it then.")]


class SpeakerSplit(Request):
    lines: Annotated[
        list[Annotated[int, Field(ge=0, le=2**31 - 1)]] | None,
        Field(
            min_length=1,
            max_length=10_000,
            description="Which of their lines somebody else says; null: as the voices sound.",
        ),
    ] = None


class Speakers(Answer):
    speakers: list[Speaker]


class Reprocess(Request):
    """What to make anew, and with which settings; those left out stay as they were."""

    what: Literal["transcription", "summary"] = "transcription"
    language: Language | None = None
    model: Model = None
    speakers: bool | None = None
    auto_summary: bool | None = None
    template: Template = None
    priority: Priority = 1
    replace_edits: Annotated[
        bool,
        Field(
            description="Drop the words that people corrected in the transcript; otherwise they go over to the new one. "
            "Who speaks goes over in any case."
        ),
    ] = False


class Reprocessing(Answer):
    id: str
    job_id: str


class Bulk(Request):
    action: Literal["retry", "cancel", "delete", "reprocess_transcription", "reprocess_summary", "tag", "untag"]
    ids: Annotated[list[RecordingId], Field(min_length=1, max_length=500)]
    tags: Annotated[Tags, Field(default_factory=list, description="For `tag` and `untag`: which.")]


class BulkDone(Answer):
    done: int
    refused: Annotated[dict[str, str], Field(description="Recording id: why it was left alone.")]


class CancelledJobs(Answer):
    cancelled: Annotated[list[str], Field(description="Ids of the recording's jobs that were stopped.")]


class DeletedRecording(Answer):
    deleted: int


class NewShare(Request):
    hours: Annotated[float, Field(gt=0, le=90 * 24, description="When the link expires.")] = 7 * 24
    with_audio: bool = False


class Share(Answer):
    id: str
    with_audio: bool
    created_at: Moment
    expires_at: Moment


class MadeShare(Share):
    url: Annotated[str, Field(description="Told once; whoever has it can read the recording until it expires.")]
    secret: str


class SharedSegment(Answer):
    """One line as it stands. What was heard before somebody corrected it is not for everybody."""

    number: int
    start: float
    end: float
    speaker: str | None
    text: str


class SharedSummary(Answer):
    text: str
    label: Annotated[str, Field(description="For people: how it was made.")]


class SharedRecording(Answer):
    """What a link shows to whoever has it."""

    title: str
    duration: float | None
    language: str | None
    created_at: Moment
    with_audio: bool
    media_type: Annotated[str, Field(description="Of the file: whether there is something to see.")]
    segments: list[SharedSegment]
    summary: SharedSummary | None
