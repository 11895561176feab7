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
class Pickup:
    database: DatabaseKind
    system: str
    p50: float
    p99: float


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


@dataclass
class Results:
    throughput: list[Throughput] = field(default_factory=list)
    pickup: list[Pickup] = field(default_factory=list)
    claims: list[ClaimCost] = field(default_factory=list)
    fan_out: list[FanOut] = field(default_factory=list)
    endpoints: list[EndpointCost] = field(default_factory=list)
