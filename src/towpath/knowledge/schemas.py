"""Shapes of searching and asking."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from towpath.http.shapes import Answer, Moment, Request, Text

Id = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$")]
LONGEST_QUESTION = 2000
LONGEST_WAIT = 60.0

Question = Annotated[Text, Field(min_length=1, max_length=LONGEST_QUESTION)]
Run = Annotated[Id | None, Field(description="Only documents of this run.")]
Type = Annotated[
    str | None,
    Field(pattern=r"^[A-Za-z0-9_.+-]{1,50}$", description="Only this kind of thing: `pdf`, `docx`, …, or `recording`."),
]
Entity = Annotated[
    Text | None,
    Field(max_length=300, description="Only what names this: its type and key, such as `person:helen brandt`."),
]
Kind = Annotated[Literal["document", "recording"] | None, Field(description="Only documents, or only recordings.")]
OneDocument = Annotated[Id | None, Field(description="Only in this document.")]
OneRecording = Annotated[Id | None, Field(description="Only in this recording.")]


class Range(Answer):
    start: int
    end: int


class Passage(Answer):
    """A part of a document or a recording. One of `document_id` and `recording_id` says whose; both are null for what a
    slice of somebody's own has put into the index."""

    passage_id: Annotated[str, Field(description="Stays the same while its source is not read anew.")]
    document_id: str | None
    recording_id: str | None
    type: Annotated[str, Field(description="`pdf`, `docx`, …, or `recording`.")]
    title: str
    page: Annotated[int | None, Field(description="Of a document: the page, slide or sheet.")]
    start: Annotated[float | None, Field(description="Of a recording: the second to open it at.")]
    end: Annotated[float | None, Field(description="Of a recording: the second at which the passage ends.")]
    text: str
    link: Annotated[str | None, Field(description="Where it opens in the UI.")]


class Result(Passage):
    highlights: Annotated[
        list[Range],
        Field(description="Where the words that were asked for stand in `text`, in characters (code points)."),
    ]
    score: Annotated[float, Field(description="Compares results of one question, and says nothing across questions.")]


class Results(Answer):
    results: list[Result]
    next: Annotated[str | None, Field(description="Goes back as `cursor`; null on the last page.")]


class PassageInPlace(Answer):
    passage: Passage
    before: Annotated[list[Passage], Field(description="Its neighbours, in their order.")]
    after: list[Passage]


class NamedEntity(Answer):
    type: str
    key: Annotated[str, Field(description="The same however it is written; `type:key` is what searches are narrowed by.")]
    name: Annotated[str, Field(description="One of the ways in which it is written.")]
    passages: Annotated[int, Field(description="How many name it.")]
    sources: Annotated[int, Field(description="How many documents and recordings do.")]


class Entities(Answer):
    items: list[NamedEntity]
    types: Annotated[list[str], Field(description="The types that are found at all.")]
    next: Annotated[str | None, Field(description="Goes back as `cursor`; null on the last page.")]


class NewQuestion(Request):
    question: Question
    run: Run = None
    type: Type = None
    entity: Entity = None
    kind: Kind = None
    document_id: OneDocument = None
    recording_id: OneRecording = None
    wait: Annotated[
        float,
        Field(ge=0, le=LONGEST_WAIT, description="Seconds to wait for the answer; after that, 202 with how far it is."),
    ] = 20.0


class AskedAbout(Request):
    document_id: OneDocument = None
    recording_id: OneRecording = None
    limit: Annotated[int, Field(ge=1, le=50)] = 20


class Sentence(Answer):
    text: str
    passages: Annotated[list[str], Field(min_length=1, description="Ids of the passages that say it.")]
    starts: Annotated[
        list[float | None],
        Field(
            default_factory=list,
            description="Of each of them: the second of the line that says it; null if nobody spoke it.",
        ),
    ]


class LeftOut(Answer):
    """What the model wrote and no passage bears out."""

    text: str
    why: str


class CitedPassage(Passage):
    cited: Annotated[bool, Field(description="Whether a sentence rests on it; the others were given to the model, too.")]


class QuestionError(Answer):
    message: str
    remedy: str | None


class Asking(Answer):
    """Whether questions are answered here."""

    model: Annotated[str | None, Field(description="Of the chat service; null: none is configured.")]
    remedy: Annotated[str | None, Field(description="What to do to have questions answered, if they are not.")]


class Answered(Answer):
    """A question and, once `status` is `done`, its answer. Every sentence of it names the passages that it rests on."""

    id: Annotated[str, Field(description="The job's id.")]
    status: Literal["waiting", "answering", "done", "failed", "cancelled"]
    question: str
    sentences: list[Sentence]
    passages: list[CitedPassage]
    left_out: Annotated[list[LeftOut], Field(description="Sentences that were dropped, and why.")]
    note: Annotated[str | None, Field(description="Why there is no answer, if the passages have none.")]
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_cents: Annotated[float | None, Field(description="null: the price list does not know the model.")]
    waiting_for: Annotated[str | None, Field(description="Why it is not done yet.")]
    error: QuestionError | None
    created_at: Moment | None
