"""Why a job waits whose request is on its way into a batch, or in one."""

from __future__ import annotations

from towpath import App, Job, Reading, Why, moment
from towpath.batches.names import ANSWERED, FULL


def explain_waits(app: App) -> None:
    @app.explains(ANSWERED)
    async def asker(now: Reading, job: Job) -> Why | None:
        rows = await now.query("batch_requests_of_job", job_id=job.id)
        if not rows:
            return None
        row = rows[0]
        if not row["is_open"]:
            return Why(f"its request went out with batch {row['batch_id']}, and waits for the answer")
        return _until_sent(f"it waits for its batch of {row['count']}", row["due_at"])

    @app.explains(FULL)
    async def batch(now: Reading, job: Job) -> Why | None:
        rows = await now.query("gathering_by_id", batch_id=job.subject_id)
        return _until_sent(f"it has {rows[0]['count']} requests, and waits for more", rows[0]["due_at"]) if rows else None


def _until_sent(what: str, due_at: object) -> Why:
    due = moment(due_at)
    return Why(f"{what} to be sent, at the latest at {due:%H:%M:%S} UTC", due)
