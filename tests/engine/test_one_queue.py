"""The figures of one queue, and names that nobody knows."""

import pytest

from towpath import QueueNotFound
from towpath.testing import drain


def shop(app):
    @app.operation("resize", queue="images")
    async def resize(ctx): ...

    @app.operation("mail", queue="mails")
    async def mail(ctx): ...

    return app


async def test_one_queue_has_the_figures_it_has_among_all(new_app):
    async with shop(new_app()) as app:
        for _ in range(3):
            await app.enqueue("resize")
        await app.enqueue("mail")
        await app.queues.cap("images", 2)
        listed = {view.name: view for view in await app.queues.list()}
        for name in ("images", "mails"):
            assert await app.queues.get(name) == listed[name]
        assert ((await app.queues.get("images")).queued, (await app.queues.get("images")).max_slots) == (3, 2)
        await drain(app)
        assert (await app.queues.get("images")).queued == 0


async def test_one_queue_is_read_without_the_jobs_and_without_the_other_queues(new_app):
    async with shop(new_app()) as app:
        await app.enqueue("resize")
        asked = []

        async def read(unit):
            return await real(lambda tx: unit(_Watched(tx, asked)))

        real, app.services.store.read = app.services.store.read, read
        assert (await app.queues.get("images")).queued == 1
        app.services.store.read = real
        assert set(asked) == {"depth_of", "lock_free_queue", "perhaps_alive"}


class _Watched:
    def __init__(self, tx, asked):
        self._tx, self._asked = tx, asked

    def __getattr__(self, name):
        return getattr(self._tx, name)

    async def fetch(self, query, /, **params):
        self._asked.append(query)
        return await self._tx.fetch(query, **params)


async def test_a_queue_that_nobody_knows_is_refused_with_the_names_that_are_near(new_app):
    async with shop(new_app()) as app:
        with pytest.raises(QueueNotFound, match="no queue is named 'imagse'") as refused:
            await app.queues.get("imagse")
        assert refused.value.remedy == "did you mean 'images'?"
        with pytest.raises(QueueNotFound) as refused:
            await app.queues.get("something-else")
        assert refused.value.remedy == "known are images, mails"


async def test_a_queue_is_known_by_its_operation_its_jobs_its_settings_or_its_workers(new_app):
    async with shop(new_app()) as app:
        await app.enqueue("elsewhere", queue="by-job")
        await app.queues.cap("by-setting", 1)
        await app.worker(["by-worker"]).run_until_idle()
    async with new_app() as bare:
        for name in ("by-job", "by-setting", "by-worker"):
            assert (await bare.queues.get(name)).name == name
        with pytest.raises(QueueNotFound):
            await bare.queues.get("mails")
