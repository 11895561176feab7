"""What is measured, and how long for."""

from dataclasses import dataclass
from typing import Literal, get_args

Section = Literal[
    "enqueue",
    "drain",
    "slots",
    "pairs",
    "pruning",
    "fresh",
    "pickup",
    "claims",
    "streams",
    "endpoints",
    "recordings",
    "waits",
    "batches",
    "extraction",
    "documents",
    "search",
]
SECTIONS: tuple[Section, ...] = get_args(Section)

FLOOR = "floor"
TWO_COMMITS = "floor_two_commits"
TOWPATH = "towpath"
PEERS = ("pgqueuer", "procrastinate")
SYSTEMS = (FLOOR, TWO_COMMITS, TOWPATH, *PEERS)
STREAMS = (1, 200)


@dataclass(frozen=True)
class Sizes:
    rounds: int
    seconds: float
    """How long one enqueue or drain takes, roughly."""
    samples: int
    small: int
    large: int
    claims: int
    table: int
    """Jobs in the smaller of two tables that endpoints are asked about; the larger one has `large`."""
    requests: int
    speech: float
    """Minutes of speech in one file that is transcribed."""
    backlog: float
    """Hours of one person's recordings before another's minute."""
    hour: float
    """Seconds that an hour of recordings is pressed into."""
    fresh: float
    """Seconds from the first job of a new database on."""
    local: int
    """Requests of a batch that is asked through LOCAL."""
    many: int
    """Requests of a batch that is to take no more memory than one of a tenth."""
    cycles: int
    """Of a reconciler, at each number of jobs that wait."""
    documents: int
    """Small documents that are read, one after the other or through the whole pipeline."""
    passages: int
    """Passages in an index that is asked."""

    def __str__(self) -> str:
        rounds = "one round" if self.rounds == 1 else f"{self.rounds} rounds"
        return f"{rounds} of {self.seconds:g} s, up to {self.large:,} jobs queued"


FULL = Sizes(
    rounds=3, seconds=1.5, samples=300, small=10_000, large=1_000_000, claims=200, table=100_000, requests=1000, speech=6.0,
    backlog=10.0, hour=150.0, fresh=180.0, passages=100_000, local=4_000, many=1_000_000, cycles=50, documents=10_000,
)  # fmt: skip
QUICK = Sizes(
    rounds=1, seconds=0.5, samples=60, small=10_000, large=50_000, claims=40, table=10_000, requests=200, speech=3.0,
    backlog=2.0, hour=60.0, fresh=15.0, passages=5_000, local=1_000, many=100_000, cycles=20, documents=400,
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One comparison with the floor. The reference always has one process and the case's batch size."""

    activity: Literal["enqueue", "drain"]
    batch: int
    processes: int = 1
    subjects: tuple[str, ...] = (TOWPATH,)
    tenants: int = 1
    """Whose jobs they are, in turn; systems that know no tenants take them as they come."""

    def __str__(self) -> str:
        processes = f", {self.processes} processes" if self.processes > 1 else ""
        tenants = f", {self.tenants} tenants" if self.tenants > 1 else ""
        return f"{self.activity}, batch {self.batch}{processes}{tenants}"


CASES = (
    Case("enqueue", 1, subjects=(TOWPATH, *PEERS)),
    Case("enqueue", 10),
    Case("enqueue", 100, subjects=(TOWPATH, *PEERS)),
    Case("enqueue", 500, subjects=(TOWPATH, *PEERS)),
    Case("enqueue", 500, subjects=(TOWPATH, *PEERS), tenants=10),
    Case("drain", 1, subjects=(TWO_COMMITS, TOWPATH)),
    Case("drain", 10, subjects=(TWO_COMMITS, TOWPATH)),
    Case("drain", 100, subjects=(TWO_COMMITS, TOWPATH)),
    Case("drain", 100, processes=2, subjects=(FLOOR, TOWPATH)),
    # The batch that suits the fastest peer best: everybody takes as much at a time.
    Case("drain", 300, subjects=(TOWPATH, *PEERS)),
    Case("drain", 300, processes=2, subjects=(FLOOR, TOWPATH, *PEERS)),
)
