"""What a run found out."""

from dataclasses import dataclass, field

from bench.contender import DatabaseKind
from bench.plan import Case


@dataclass(frozen=True)
class Throughput:
    database: DatabaseKind
    case: Case
    system: str
    rate: float
    ratio: float
    """To the floor of the same batch size with one process."""
    lowest: float
    highest: float


@dataclass(frozen=True)
class ShortJobs:
    """Jobs of a millisecond in a few slots."""

    database: DatabaseKind
    slots: int
    system: str
    rate: float
    ratio: float
    """To PgQueuer."""
    lowest: float
    highest: float


@dataclass(frozen=True)
class Pair:
    """Jobs per second of one worker process and of two, jobs that compute for a moment."""

    database: DatabaseKind
    one: float
    two: float
    ratio: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class Pruning:
    """Jobs per second that were removed, beside a worker that finished others at full speed."""

    database: DatabaseKind
    pruned: float
    drained: float
    ratio: float


@dataclass(frozen=True)
class Pickup:
    database: DatabaseKind
    system: str
    p50: float
    p99: float


@dataclass(frozen=True)
class Fresh:
    """A new database from its first job on: jobs per second in the first and in the last third of the run."""

    database: DatabaseKind
    seconds: float
    first: float
    last: float
    ratio: float
    """Of the last to the first."""


@dataclass(frozen=True)
class ClaimCost:
    database: DatabaseKind
    system: str
    situation: str
    median: float
    p95: float
    ratio: float
    """To the same system's claim in the smallest situation."""


@dataclass(frozen=True)
class FanOut:
    """How long it took from an enqueue until every one of the open streams had told of it."""

    database: DatabaseKind
    streams: int
    deliveries: int
    p50: float
    p99: float


@dataclass(frozen=True)
class EndpointCost:
    database: DatabaseKind
    path: str
    jobs: int
    rate: float
    p50: float
    p99: float
    ratio: float
    """Of the median, to the same endpoint's with fewer jobs in the table."""
    p99_ratio: float


@dataclass(frozen=True)
class Transcription:
    """Seconds of audio per second, from an upload to its transcript."""

    database: DatabaseKind
    system: str
    minutes: float
    rate: float
    ratio: float
    """To the speech library on the same file, in the same windows, with one thread."""
    lowest: float
    highest: float
    computing: float
    """Seconds of computing, of the library's: workers and what decodes for them."""


@dataclass(frozen=True)
class Pipeline:
    """Small documents per second, through every step."""

    database: str
    documents: int
    rate: float
    megabytes: float
    """Per second, of the files."""
    ratio: float
    """To the library that only reads them, one after the other."""
    first: float
    """Of the first tenth of them."""
    last: float


@dataclass(frozen=True)
class Extraction:
    """Small documents per second, one after the other."""

    system: str
    documents: int
    rate: float
    megabytes: float
    """Per second, of the files."""
    ratio: float
    """To the library on the same documents, called directly."""
    lowest: float
    highest: float


@dataclass(frozen=True)
class Turn:
    """Seconds until one person's minute was transcribed, alone and behind another's backlog."""

    database: DatabaseKind
    backlog_hours: float
    alone: float
    behind: float
    heard: float
    """Seconds of the backlog that were heard meanwhile."""


@dataclass(frozen=True)
class Waits:
    """How people were told how long they would wait, over a mixed hour."""

    database: DatabaseKind
    seconds: float
    """That the hour was pressed into."""
    seed: int
    recordings: int
    looks: int
    right: float
    """The part of the looks at which the truth was within the range."""
    sooner: float
    """The part at which it was done sooner than the range said."""
    width: float
    """The upper end of the range as a multiple of the lower, in the median."""
    reasons: int
    """Looks at which there was a reason instead of a range."""


@dataclass(frozen=True)
class ThroughLocal:
    """Requests per second of a LOCAL batch, from its sending to its end."""

    database: DatabaseKind
    requests: int
    rate: float
    ratio: float
    """To asking the chat service directly, as many at once."""
    lowest: float
    highest: float
    directly: float
    computing: float
    """Milliseconds of a processor that a request takes: of whoever asks directly, and of the worker."""


@dataclass(frozen=True)
class Memory:
    """The most bytes that a server and a worker held for a batch of so many requests."""

    database: DatabaseKind
    requests: int
    server: int
    worker: int


@dataclass(frozen=True)
class Cycle:
    """A reconciler's cycle with a hundred orders due, while so many wait: medians in milliseconds."""

    database: DatabaseKind
    waiting: int
    milliseconds: float
    computing: float
    statements: int


@dataclass(frozen=True)
class SearchRanking:
    """Of the held-out questions: how many find their passage among the first five, and the mean of one through its place."""

    database: DatabaseKind
    how: str
    kind: str
    recall: float
    mrr: float


@dataclass(frozen=True)
class SearchLatency:
    """Milliseconds from a question to its hits."""

    database: DatabaseKind
    how: str
    passages: int
    p50: float
    p99: float


@dataclass(frozen=True)
class Recognized:
    """Entities of one type in the marked paragraphs."""

    type: str
    marked: int
    precision: float
    recall: float


@dataclass
class Results:
    throughput: list[Throughput] = field(default_factory=list)
    short_jobs: list[ShortJobs] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    pruning: list[Pruning] = field(default_factory=list)
    fresh: list[Fresh] = field(default_factory=list)
    pickup: list[Pickup] = field(default_factory=list)
    claims: list[ClaimCost] = field(default_factory=list)
    fan_out: list[FanOut] = field(default_factory=list)
    endpoints: list[EndpointCost] = field(default_factory=list)
    transcriptions: list[Transcription] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    waits: list[Waits] = field(default_factory=list)
    through_local: list[ThroughLocal] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    cycles: list[Cycle] = field(default_factory=list)
    extractions: list[Extraction] = field(default_factory=list)
    pipelines: list[Pipeline] = field(default_factory=list)
    rankings: list[SearchRanking] = field(default_factory=list)
    latencies: list[SearchLatency] = field(default_factory=list)
    recognized: list[Recognized] = field(default_factory=list)
