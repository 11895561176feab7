"""Models: what there is, what was chosen, and the services that administrators have set up."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from towpath.server.schemas.base import Answer, Moment, Request, Text
from towpath.server.schemas.jobs import StateName

KindName = Literal["speech", "chat"]
ServiceName = Annotated[
    str, Field(min_length=1, max_length=63, description="Small letters, digits, dots, - and _. It stays what it is.")
]
Reference = Annotated[str, Field(min_length=1, max_length=100)]
Tag = Annotated[str, Field(min_length=2, max_length=40)]


class ModelPull(Answer):
    """The newest job that fetches a model."""

    job_id: str
    state: StateName
    bytes: float | None
    of_bytes: float | None
    error: str | None
    remedy: str | None


class Model(Answer):
    """A model, on the machine or at a service."""

    name: Annotated[str, Field(description="By which it is chosen, such as whisper/small or service/NAME.")]
    kind: Literal["speech", "chat", "voices", "embeddings"]
    at: Annotated[
        Literal["machine", "service", "environment"],
        Field(
            description="Where it runs: here, at a service that was set up here, or at that of the environment's settings."
        ),
    ]
    model: Annotated[str | None, Field(description="What a service calls it.")]
    state: Annotated[
        Literal["ready", "can_be_pulled", "missing"], Field(description="`missing`: its library is not installed.")
    ]
    hears: Annotated[list[str] | None, Field(description="Languages that it hears; null: it hears nothing.")]
    detects: Annotated[bool, Field(description="Whether it finds out by itself which language is spoken.")]
    bytes: Annotated[int | None, Field(description="On the machine, or what would be fetched.")]
    speed: Annotated[float | None, Field(description="Seconds of sound that one slot hears in a second.")]
    speed_measured: Annotated[bool, Field(description="Whether that was measured here; otherwise it is what is usual.")]
    note: Annotated[str | None, Field(description="Its licence, or what is missing.")]
    pulled: Annotated[bool, Field(description="Whether it was fetched here, and so can be removed.")]
    default: Annotated[bool, Field(description="Whether it does what nobody chose a model for.")]
    pull: ModelPull | None


class ModelDefault(Answer):
    """What does the work for which nobody chose a model."""

    model: Annotated[str | None, Field(description="By its name; null: there is none.")]
    chosen: Annotated[str | None, Field(description="What was chosen in Settings; null: nothing was.")]
    of: Annotated[
        Literal["chosen", "environment", "usual"],
        Field(description="Who says so: people in Settings, the environment, or nobody, and then it is the usual one."),
    ]
    overrides: Annotated[str | None, Field(description="What the environment says, if that does not count.")]
    hears: Annotated[list[str], Field(description="Languages of which one can be chosen, where it hears.")]
    detects: bool


class ModelList(Answer):
    models: list[Model]
    speech: ModelDefault
    chat: ModelDefault


class ModelDefaultChange(Request):
    model: Annotated[
        Reference | None,
        Field(description="A model's name; null: as the environment says; `none` for chat: no service at all."),
    ]


class ModelServiceChange(Request):
    """All of it. Without `key` it keeps the one it has, as long as the address stays; an empty one is none."""

    url: Annotated[str, Field(min_length=1, max_length=2000, description="The base URL, such as http://localhost:8080/v1.")]
    model: Annotated[Text, Field(min_length=1, max_length=200, description="What the service calls it.")]
    languages: Annotated[
        list[Tag] | None, Field(max_length=200, description="What it hears; left out: whatever Whisper's models do.")
    ] = None
    key: Annotated[str | None, Field(max_length=1000, description="It is kept encrypted and never comes back.")] = None


class NewModelService(ModelServiceChange):
    name: ServiceName
    kind: KindName


class ModelService(Answer):
    name: str
    kind: KindName
    url: str
    model: str
    languages: list[str] | None
    has_key: bool
    created_at: Moment
    changed_at: Moment


class ServiceTrial(Request):
    kind: KindName
    model: Annotated[Reference, Field(description="`service/NAME`, or `environment`.")]


class TriedService(Answer):
    ok: bool
    seconds: float
    said: Annotated[str | None, Field(description="What it answered. A tone is no word: of speech it may be nothing.")]
    error: str | None
    remedy: str | None


class NewModelPull(Request):
    model: Annotated[Reference, Field(description="Such as whisper/small or moonshine/base-es.")]
    force: Annotated[bool, Field(description="Fetch files again that are there.")] = False


class ModelPulling(Answer):
    job_id: str
