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


def short_jobs(databases: Databases, *, rounds: int, seconds: float, progress: Progress) -> dict[str, Comparison]:
    """Towpath beside PgQueuer, which runs before and after it."""
    measured = partial(drain, databases=databases, batch=SLOTS, processes=1, seconds=seconds)
    peer = PgQueuerPeer(job_seconds=JOB_SECONDS, slots=SLOTS)
    subject = Towpath(databases.kind, job_seconds=JOB_SECONDS, slots=SLOTS)
    return compare(PEER, partial(measured, peer), {TOWPATH: partial(measured, subject)}, rounds=rounds, progress=progress)
