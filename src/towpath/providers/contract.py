"""What every batch provider promises, whatever its wire looks like. `tests/providers/test_contract.py` runs on all of them.

An order becomes at most one job at the provider:

1. `check` says what is missing (a package, a credential) before anything is written or sent.
2. `prepare` does whatever may safely be done twice: uploading an input file, reserving a job that costs nothing until it is
   started. What it answers is stored before the next call.
3. `submit` is the one call that starts paid work. It carries the order's key wherever the provider lets us put it.
4. If it is not known whether `submit` arrived, `find` looks for the key. What `find` can be trusted with is the provider's
   `grade`.
5. `poll` asks how it is going, `fetch` streams the results of a job that has ended, `cancel` stops one, `clean` removes what
   `prepare` has left at the provider.

An adapter may also have a `probe` (`Probing`), by which people find out whether their credentials are any good, and a
`challenge` (`Challenged`), if its provider asks whether a webhook's address is really ours.

Failures are the engine's categories: `RateLimited` with the time the provider asked for, `Transient`, `SchemaInvalid` for an
order that the provider will never take, `Fatal` for credentials and accounts, and `Vanished` for a job it does not know.
Nothing else leaves an adapter; messages name the provider and never hold a credential.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from towpath.core.errors import Transient

Prepared = Mapping[str, Any]
"""What an adapter has to remember between its calls: small, plain JSON, no credentials."""


class Grade(StrEnum):
    """What is known of an order whose `submit` may or may not have arrived."""

    NAMED = "A"
    """The job bears our name: a second `submit` is refused, `find` is certain."""
    LISTED = "B"
    """The job bears a tag of ours: `find` lists jobs and is certain once the listing is up to date."""
    AMBIGUOUS = "C"
    """Nobody can say. Such an order is never sent again without a person's word."""


class Phase(StrEnum):
    """Where a provider's job is, as far as anybody but its provider cares. A status that an adapter does not know is
    RUNNING: it may be new, and the deadline ends what never ends."""

    RUNNING = "running"
    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return self is not Phase.RUNNING


class Vanished(Transient):
    """The provider does not know this job. It may not be listed yet, or be gone: the engine asks a few times more."""


@dataclass(frozen=True, slots=True)
class Input:
    """One file of a transcription. `ref` is ours, unique within the order, and comes back with the result.

    Providers that fetch files themselves need `uri`; those that are sent files get `blob`, a key of `Files`. `source` is
    where people know the file to be, as it may be shown: nothing to the provider.
    """

    ref: str
    filename: str
    uri: str | None = None
    blob: str | None = None
    size: int = 0
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """What a provider is asked to do. It is stored, and the same whenever it is asked for again.

    `requests` is a blob of JSON lines, `{"custom_id": ref, "body": {…}}`, for a completion; `body` is a chat
    call as OpenAI words it, without a model. `inputs` are the files of a transcription.
    """

    key: str
    """Unique among all orders, 1 to 200 of `[0-9a-zA-Z._-]`."""
    task_type: str
    model: str
    inputs: tuple[Input, ...] = ()
    requests: str | None = None
    count: int = 0
    """How many requests or inputs there are."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """`locale`, `diarization`, `word_timestamps`, `window`: what there is no word for at a provider, `check` refuses."""
    output: str | None = None
    """A folder in the provider's own storage (`s3://…/`, `gs://…/`) where results are to go, for those that need one."""
    callback: str | None = None
    """Where the provider may tell that the job has ended, if it can."""


@dataclass(frozen=True, slots=True)
class Counts:
    total: int
    completed: int
    failed: int


@dataclass(frozen=True, slots=True)
class Answer:
    """One look at a job. `status` is the provider's own word, `detail` a few plain facts for people to read."""

    status: str
    phase: Phase
    error: str | None = None
    retry_after: float | None = None
    """When the provider wants to be asked again, in seconds."""
    counts: Counts | None = None
    output_uri: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """A job that bears an order's key."""

    external_id: str
    status: str


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one request or input. `ref` is the order's; `body` the provider's own answer, None with an `error`."""

    ref: str
    body: Any = None
    error: str | None = None
    code: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None

    @property
    def ok(self) -> bool:
        return self.error is None


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one job at the provider takes; more becomes several jobs. 0: no limit."""

    count: int = 0
    bytes: int = 0


class Files(Protocol):
    """The bytes of an order that are ours to send."""

    def open(self, blob: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]: ...

    async def size(self, blob: str) -> int: ...


class Provider(Protocol):
    """An adapter. It keeps no state but connections, and may be used by many tasks at once."""

    @property
    def name(self) -> str:
        """In capitals, such as `AZURE`."""
        ...

    @property
    def grade(self) -> Grade: ...

    @property
    def task_types(self) -> frozenset[str]: ...

    @property
    def limits(self) -> Limits: ...

    @property
    def reads(self) -> frozenset[str]:
        """Schemes of inputs that it fetches by itself (`https`, `s3`, `gs`); empty if files are sent to it. Who reads from
        `gs` also writes there: its orders have an `output`."""
        ...

    @property
    def cancels(self) -> bool:
        """Whether a job can be stopped at all."""
        ...

    @property
    def prepares_again(self) -> bool:
        """Whether `submit` needs something of `prepare` that is gone with its process: it is prepared before every try."""
        ...

    @property
    def submit_seconds(self) -> float:
        """The longest time that `submit` may take. After that its call is certainly over, whoever made it."""
        ...

    async def check(self, order: Order | None = None) -> None:
        """Raises ConfigurationError for what is missing here, SchemaInvalid for what the order asks in vain. No request."""
        ...

    async def prepare(self, order: Order, files: Files) -> Prepared: ...

    async def submit(self, order: Order, prepared: Prepared) -> str:
        """Starts the job and answers its id. If a job of the same key is there already and the provider says so (grade A),
        its id is the answer."""
        ...

    async def find(self, order: Order, prepared: Prepared) -> Found | None:
        """The job that bears the order's key; None if there certainly is none. Grade C: `Found` if one can be told, and None
        proves nothing."""
        ...

    async def poll(self, order: Order, prepared: Prepared, external_id: str) -> Answer: ...

    def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        """Every result of a job that has ended, in any order, as it is read; what the provider has no result for is left
        out. A result that breaks off in the middle is `Transient`."""
        ...

    async def cancel(self, order: Order, prepared: Prepared, external_id: str) -> None:
        """Asks the provider to stop. Idempotent: a job that has ended, or is gone, is left alone."""
        ...

    async def clean(self, order: Order, prepared: Prepared) -> None:
        """Removes what `prepare` has put at the provider. Idempotent."""
        ...

    def called_back(self, headers: Mapping[str, str], body: bytes) -> str | None:
        """The job (its id at the provider) that a webhook or callback tells of, if its signature is right; None otherwise,
        and for providers without one. What it says is not believed: the job is polled at once."""
        ...

    async def aclose(self) -> None: ...


@runtime_checkable
class Probing(Protocol):
    """An adapter that can show, before anything is ordered, that its provider is there and takes its credentials."""

    async def probe(self) -> str:
        """One request that makes nothing, changes nothing and costs nothing, such as a list of one job. Answers in words
        what was asked for, and fails as every call does."""
        ...


@runtime_checkable
class Challenged(Protocol):
    """An adapter whose provider wants an answer before it tells anything: a webhook of it is dead until then."""

    def challenge(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The text that it wants to hear, if that is what this message is about."""
        ...
