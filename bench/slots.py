"""Short jobs in few slots, as public benchmarks of queues have them: are slots busy while the database is being asked?"""

from functools import partial

from bench.databases import Databases
from bench.measure import Comparison, Progress, compare
from bench.peers.pgqueuer import PgQueuerPeer
from bench.plan import TOWPATH
from bench.subjects.towpath import Towpath
from bench.throughput import drain

SLOTS = 16
JOB_SECONDS = 0.001
PEER = "pgqueuer"
MORE = "pgqueuer, up to twice as many at a time"


def short_jobs(databases: Databases, *, rounds: int, seconds: float, progress: Progress) -> dict[str, Comparison]:
    """Towpath beside PgQueuer, which runs before and after it and keeps to as many slots; and PgQueuer as it is if it need
    not: it takes as many at a time, and the next before they have ended."""
    measured = partial(drain, databases=databases, batch=SLOTS, processes=1, seconds=seconds)
    peer = PgQueuerPeer(job_seconds=JOB_SECONDS, slots=SLOTS, keeps=True)
    subjects = {
        TOWPATH: Towpath(databases.kind, job_seconds=JOB_SECONDS, slots=SLOTS),
        MORE: PgQueuerPeer(job_seconds=JOB_SECONDS, slots=SLOTS),
    }
    runs = {name: partial(measured, subject) for name, subject in subjects.items()}
    return compare(PEER, partial(measured, peer), runs, rounds=rounds, progress=progress)
