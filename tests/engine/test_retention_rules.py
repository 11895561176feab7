"""Which ended jobs a round of pruning takes: the settings for all queues, and rules of single queues."""

import time
from dataclasses import replace

from tests.engine.working import working
from towpath import App, Fatal, JobFailed, JobNotFound, Settings
from towpath.engine.tending import retention

DAY = 86400.0


class Later:
    """A clock that can be put forward."""

    def __init__(self):
        self.ahead = 0.0

    def __call__(self):
        return time.time() + self.ahead


async def _ended(app, queue, fail=False):
    job = await app.enqueue("work", {"fail": fail}, queue=queue)
    try:
        await app.result(job.id, timeout=30)
    except JobFailed:
        assert fail
    return job.id


async def _left(app, ids):
    left = []
    for job_id in ids:
        try:
            left.append((await app.get(job_id)).id)
        except JobNotFound:
            continue
    return left


async def test_succeeded_jobs_go_after_their_days_and_failed_ones_stay_and_a_queue_may_have_its_own_rule(sqlite_url):
    clock = Later()
    app = App(sqlite_url, clock=clock, settings=replace(Settings(), keep_succeeded_days=30.0))
    app.retain("short", succeeded_days=1, failed_days=2)
    app.retain("archive")

    @app.operation("work", queue="plain")
    async def work(ctx, payload: dict) -> None:
        if payload["fail"]:
            raise Fatal("as asked")

    async with app:
        async with working(app, "plain", "short", "archive"):
            plain, plain_failed = await _ended(app, "plain"), await _ended(app, "plain", fail=True)
            short, short_failed = await _ended(app, "short"), await _ended(app, "short", fail=True)
            archive = await _ended(app, "archive")
        everyone = [plain, plain_failed, short, short_failed, archive]
        assert await retention.prune(app.services) == 0
        clock.ahead = 1.5 * DAY
        assert await retention.prune(app.services) == 1
        assert await _left(app, everyone) == [plain, plain_failed, short_failed, archive]
        clock.ahead = 2.5 * DAY
        assert await retention.prune(app.services) == 1
        assert await _left(app, everyone) == [plain, plain_failed, archive]
        clock.ahead = 400 * DAY
        assert await retention.prune(app.services) == 1
        assert await _left(app, everyone) == [plain_failed, archive]
