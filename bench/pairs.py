"""Two worker processes beside one, with jobs that compute for a moment: nobody adds a process for jobs that do nothing."""

from functools import partial

from bench.databases import Databases
from bench.measure import Comparison, Progress, compare
from bench.subjects.towpath import Towpath
from bench.throughput import drain

BATCH = 100
COMPUTE_SECONDS = 30e-6
ONE, TWO = "one process", "two processes"


def pair(databases: Databases, *, rounds: int, seconds: float, progress: Progress) -> dict[str, Comparison]:
    measured = partial(
        drain, Towpath(databases.kind, compute_seconds=COMPUTE_SECONDS), databases, batch=BATCH, seconds=seconds
    )
    one, two = partial(measured, processes=1), partial(measured, processes=2)
    return compare(ONE, one, {TWO: two}, rounds=rounds, progress=progress)
