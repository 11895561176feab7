"""A job's last word: another one, that is made should it fail or be cancelled, in the very transaction that ends it.

For whoever has others waiting for what it does: nobody who cancels, deletes or times it out need know of them. It is kept
among the job's steps, so it stays for as long as they do; `left_behind.py` speaks it.
"""

from __future__ import annotations

from towpath.core.encoding import decode, encode
from towpath.core.errors import JobNotFound
from towpath.core.records import NewJob, Step
from towpath.core.working_set import WorkingSet
from towpath.store import journal, ledger
from towpath.store.contract import Tx


async def leave(tx: Tx, job_id: str, word: NewJob) -> None:
    """One of each operation: the first that was left stays."""
    job = await ledger.lock_one(tx, job_id)
    if job is None or job.ended:
        raise JobNotFound(f"no job with the id {job_id} is there that could leave a word: it has ended, or is gone")
    working = WorkingSet([job], tx.now)
    said = {
        "operation": word.operation, "queue": word.queue, "payload": decode(word.payload_json), "tenant": word.tenant,
        "lane": word.lane, "max_attempts": word.max_attempts,
    }  # fmt: skip
    await journal.put_step(tx, job, Step(job_id, f"last word {word.operation}", "last word", output_json=encode(said)))
    await tx.write_jobs(working.changes())
