"""Jobs by what they work on. A product asks for its things and is told of the jobs; it keeps no list of them itself.

A subject is a kind and an id, given with `enqueue(…, subject=("recording", id))`; jobs that a job makes inherit its subject.
"""

from __future__ import annotations

from collections.abc import Iterable

from towpath.core.records import Job
from towpath.engine.registry import check_name
from towpath.store.contract import Tx


async def jobs_of(tx: Tx, kind: str, ids: Iterable[str]) -> dict[str, list[Job]]:
    """The root jobs of each, oldest first; their children are found by `app.list(parent=…)`."""
    asked = list(dict.fromkeys(ids))
    found: dict[str, list[Job]] = {subject_id: [] for subject_id in asked}
    if asked:
        rows = await tx.jobs("jobs_of_subjects", kind=check_name("a subject's kind", kind), ids=asked)
        for job in sorted(rows, key=lambda job: job.id):
            assert job.subject_id is not None
            found[job.subject_id].append(job)
    return found
