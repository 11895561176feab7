"""Why the job of a task waits: nobody has taken it up, or somebody works on it and when that was heard last."""

from __future__ import annotations

from towpath import App, Job, Reading, Why
from towpath.fleet.names import ENDED
from towpath.fleet.records import dispatch_from


def explain_waits(app: App) -> None:
    @app.explains(ENDED)
    async def sent(now: Reading, job: Job) -> Why | None:
        rows = await now.query("fleet_dispatch_newest", task_id=job.subject_id)
        if not rows:
            return None
        last = dispatch_from(rows[0])
        if not last.acknowledged:
            how = "a worker to ask for it" if not last.route else "a worker to take it from the queue"
            return Why(f"attempt {last.attempt} was sent, and waits for {how}", last.lease_until)
        heard = f"{last.heard_at:%H:%M:%S} UTC" if last.heard_at else "never"
        return Why(
            f"worker {last.worker_id} works on attempt {last.attempt}, was heard of last at {heard} and is given up if it "
            f"says nothing", last.lease_until,
        )  # fmt: skip
