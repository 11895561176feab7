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


@dataclass
class Results:
    throughput: list[Throughput] = field(default_factory=list)
    pickup: list[Pickup] = field(default_factory=list)
    claims: list[ClaimCost] = field(default_factory=list)
