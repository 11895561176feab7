"""The garbage collector leaves alone what was there before the first worker, and nothing that came later."""

import gc
import weakref

from tests.engine.working import ended, working


class Ring:
    def __init__(self) -> None:
        self.itself = self


async def test_only_what_is_there_when_the_first_worker_starts_is_left_alone(app):
    @app.operation("work")
    async def work(ctx):
        return None

    async with working(app):
        await ended(app, await app.enqueue("work"))
    assert gc.get_freeze_count() > 10_000
    ring = Ring()
    gone = weakref.ref(ring)
    async with working(app):
        await ended(app, await app.enqueue("work"))
    del ring
    gc.collect()
    assert gone() is None
