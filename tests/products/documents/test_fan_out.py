"""Steps that do not need each other run at the same time, and nothing passes the place where they meet before all are
there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.engine.working import eventually
from tests.products.documents.library import TEXT, Library, opened_library
from towpath import App, Settings, documents
from towpath.documents import Work

FIRST, SECOND, THIRD = "TRANSLATED", "SUMMARISED", "WEIGHED"


class Meeting:
    """Two who wait for each other: one after the other they would wait for ever."""

    def __init__(self) -> None:
        self.both = asyncio.Barrier(2)
        self.third_saw: list[str] = []

    async def come(self, work: Work) -> str:
        async with asyncio.timeout(30):
            await self.both.wait()
        return "met"

    async def third(self, work: Work) -> str:
        self.third_saw = sorted(work.outputs)
        return "weighed"


@pytest.fixture
def meeting() -> Meeting:
    return Meeting()


@pytest.fixture
async def library(database_url: str, settings: Settings, meeting: Meeting) -> AsyncIterator[Library]:
    app = App(database_url, settings=settings)
    documents.attach(app)
    documents.add_step(app, FIRST, meeting.come)
    documents.add_step(app, SECOND, meeting.come)
    documents.add_step(app, THIRD, meeting.third, needs=(FIRST, "CHUNKED"))
    async with opened_library(app) as library:
        yield library


async def test_what_does_not_need_each_other_overlaps_and_meets_at_persisted(library: Library, meeting: Meeting) -> None:
    run, [item] = await library.finished(("canal.txt", TEXT))
    assert run["status"] == "COMPLETED", item["error"]
    at = _places(await library.events(item))
    assert _overlap(at, FIRST, SECOND)
    assert _overlap(at, "CHUNKED", "ENTITY_EXTRACTED")
    # What needs something begins when that is done, and what all meet at begins when all are.
    assert at["EMBEDDED"][0] > at["CHUNKED"][1]
    assert at[THIRD][0] > max(at[FIRST][1], at["CHUNKED"][1])
    assert {FIRST, "CHUNKED"} <= set(meeting.third_saw)
    beside = ("CHUNKED", "EMBEDDED", "ENTITY_EXTRACTED", FIRST, SECOND, THIRD)
    assert at["PERSISTED"][0] > max(at[step][1] for step in beside)
    assert min(at[step][0] for step in beside) > at["CONTENT_EXTRACTED"][1]


def _places(events: list[Any]) -> dict[str, tuple[int, int]]:
    """By step, where its beginning and its end stand in the history."""
    begun = {one["step"]: one["seq"] for one in events if one["kind"] == "step_started"}
    return {one["step"]: (begun[one["step"]], one["seq"]) for one in events if one["kind"] == "step_completed"}


def _overlap(at: dict[str, tuple[int, int]], one: str, other: str) -> bool:
    return max(at[one][0], at[other][0]) < min(at[one][1], at[other][1])


async def test_every_item_says_when_it_is_done_or_why_nobody_knows(library: Library, meeting: Meeting) -> None:
    """One is held in a step that waits for another, so the next two stay in line."""
    meeting.both = asyncio.Barrier(3)
    run_id = await library.make(*((f"{number}.txt", f"{number} {TEXT}") for number in range(3)))
    run = await library.run(run_id)
    assert (run["eta"], bool(run["eta_reason"])) == (None, True), "nobody works"
    async with library.working(concurrency=1):

        async def is_held() -> bool:
            return meeting.both.n_waiting == 2

        await eventually(is_held, within=60)
        held, *others = await library.items(run_id)
        assert (held["status"], held["position"], held["eta"]) == ("RUNNING", None, None)
        assert "nothing to estimate by" in held["eta_reason"]
        assert [item["position"] for item in others] == [1, 2]
        assert all(item["eta"] or item["eta_reason"] for item in others)
        held_up, meeting.both = meeting.both, asyncio.Barrier(2)  # for those who come after
        await held_up.wait()
        run = await library.done(run_id)
    assert run["status"] == "COMPLETED"
    for item in await library.items(run_id):
        assert (item["position"], item["eta"], item["eta_reason"]) == (None, None, None)
