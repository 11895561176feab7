"""News of jobs that a worker has claimed and does not hold yet. No database."""

import asyncio

import pytest

from tests.engine.test_turns_alone import Stage
from towpath.engine.running.slots import Slots
from towpath.engine.running.watch import Watch


class Scene(Stage):
    """Turns one after the other, as a busy worker makes them, and a watch over what they bring."""

    def __init__(self):
        super().__init__()
        self.slots, self.withdrawn, self._news = Slots(1000), [], []
        self.watch = Watch(None, "w", self.slots, self.turns, lambda ahead: self.withdrawn.append(ahead.job.id))
        self._answer, self.database.turn = self.database.turn, self._turn

    async def _turn(self, settles, claim):
        for _ in range(3):
            await asyncio.sleep(0)  # what the turn before has brought arrives meanwhile
        for name in self._news:
            self.watch.lost(name, 1, "cancelled")
        return await self._answer(settles, claim)

    def _arrive(self, jobs):
        for job in jobs:
            self.slots.admit(job)
        self.watch.tell_again()

    async def play(self, *turns):
        """Each brings some jobs, and while it is under way there is news of some."""
        for names, news in turns:
            self.database.jobs, self._news = list(names), news
            await self.turns.take(10)


@pytest.fixture
async def scene():
    return Scene()


async def test_news_of_a_job_that_is_on_its_way_is_told_when_it_is_there(scene):
    await scene.play((["a", "b"], ["b"]), ([], []))
    assert scene.withdrawn == ["b"]


async def test_news_of_what_no_turn_brings_is_forgotten(scene):
    """Such as of a job that was settled while the heartbeat asked for its lease. Some turn is always under way."""
    await scene.play(*(([f"job {number}"], [f"settled {number}"]) for number in range(100)))
    assert len(scene.watch._early) <= 2


async def test_news_is_forgotten_if_turns_bring_nothing_at_all(scene):
    await scene.play(*(([], [f"settled {number}"]) for number in range(100)))
    assert len(scene.watch._early) <= 2


async def test_a_job_that_comes_later_is_not_taken_for_the_one_there_was_news_of(scene):
    await scene.play((["a"], ["b"]), (["c"], []), (["b"], []), ([], []))
    assert scene.withdrawn == []
