"""Workers are killed at every step of a document, on both databases; others finish the run, nothing that is on record is
done again, and nothing is in the index twice."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.nursery import Nursery
from tests.engine.working import history
from tests.products.documents import crashing
from tests.products.documents.crashing import MADE, PLACES, RECORDED, Witness, name_of
from tests.products.documents.library import STEPS, Library
from towpath import Settings

AT_ONCE = 3
_TABLES = ("search_source", "search_passage", "search_vectors", "document", "document_item", "document_run")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return crashing.settings_of((tmp_path / "blobs").as_uri())


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    made = Nursery(*crashing.LIBRARIES, "tests.products.documents.crashing")
    yield made
    made.close()


class Graves:
    """Starts workers that die, and keeps what the witness has seen."""

    def __init__(self, nursery: Nursery, library: Library, folder: Path) -> None:
        self._nursery, self._library, self._folder = nursery, library, folder
        self.witness = Witness(folder / "witness")

    async def fill(self, count: int) -> None:
        """So many workers die, some of them at the same time. Each takes one document after the other until it is hit."""
        turn = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with turn:
                await self._one(number)

        await asyncio.gather(*(one(number) for number in range(count)))

    async def _one(self, number: int) -> None:
        output = self._folder / f"worker-{number}.out"
        where = [self._library.app.url, self._library.app.settings.blobs_url, str(self._folder / "witness")]
        pid = self._nursery.start("tests.products.documents.crashing", where, output)
        try:
            async with asyncio.timeout(60):
                while (code := self._nursery.poll(pid)) is None:  # noqa: ASYNC110  (another process, which rings no bell)
                    await asyncio.sleep(0.02)
        except TimeoutError:
            code = None
        finally:
            if self._nursery.poll(pid) is None:
                os.killpg(pid, signal.SIGKILL)
        assert code == -signal.SIGKILL, f"nothing has killed worker {number}:\n{output.read_text()[-3000:]}"

    def ran(self) -> Counter[tuple[str, str]]:
        """How often each step of each document was really run."""
        return Counter((words[1], words[2]) for words in self.witness.told() if words[0] == "ran")

    def killed(self) -> list[str]:
        return sorted(words[1] for words in self.witness.told() if words[0] == "killed")


async def _survives(library: Library, nursery: Nursery, folder: Path, points: Sequence[tuple[str, str]]) -> None:
    names = [name_of(*point) for point in points]
    run_id = await library.make(*((name, _text(name)) for name in names))
    graves = Graves(nursery, library, folder)
    await graves.fill(len(points))
    assert graves.killed() == sorted(names)
    undo = crashing.watched(graves.witness, deadly=False)
    try:
        async with library.working():
            run = await library.done(run_id)
    finally:
        undo()
    assert (run["status"], run["counts"]["COMPLETED"]) == ("COMPLETED", len(points))
    ran = graves.ran()
    for step, place in points:
        lost = set() if place == RECORDED else {step}
        again = {one for one in STEPS if ran[name_of(step, place), one] == 2}
        assert again >= lost, f"{name_of(step, place)} was not on record and has to be done again"
        assert again <= lost | _BESIDE.get(step, set()), f"{name_of(step, place)}: {again} were run again"
        assert {ran[name_of(step, place), one] for one in STEPS} <= {1, 2}
    for item in await library.items(run_id):
        await _recorded_once(library, item)
    await _nothing_twice(library, len(points))


_BESIDE = {"CHUNKED": {"ENTITY_EXTRACTED"}, "EMBEDDED": {"ENTITY_EXTRACTED"}, "ENTITY_EXTRACTED": {"CHUNKED", "EMBEDDED"}}
"""What may have been under way at the same time, and not yet on record."""


def _text(name: str) -> str:
    """Long enough for several passages, and nobody else's: what others have made is of no use to it."""
    days = (f"on day {day} the barge passed the lock of Altstadt and paid {day}.50 EUR." for day in range(40))
    return "\n\n".join(f"{name}: {words}" for words in days)


async def _recorded_once(library: Library, item: Any) -> None:
    events = await history(library.app, item["job_id"])
    completed = Counter((one.fields or {})["step"] for one in events if one.name == "step.completed")
    assert completed == dict.fromkeys(STEPS, 1), item["name"]
    assert item["attempt"] == 2, "each was hit once"


async def _nothing_twice(library: Library, count: int) -> None:
    rows, passages = await _rows(library), 0
    async for document in _documents(library):
        passages += document["passages"]
    of_each = dict.fromkeys(("search_source", "search_vectors", "document", "document_item"), count)
    assert passages > count, "each has several"
    assert rows == of_each | {"search_passage": passages, "document_run": 1}


async def _documents(library: Library) -> Any:
    after: dict[str, str] = {}
    while True:
        page = (await library.ann.get("/api/documents", params={"limit": 200} | after)).json()
        for one in page["items"]:
            yield one
        if page["next"] is None:
            return
        after = {"after": page["next"]}


async def _rows(library: Library) -> dict[str, int]:
    before = "towpath_" if library.app.url.startswith("sqlite") else "towpath."

    async def unit(now: Any) -> dict[str, int]:
        counted = {}
        for table in _TABLES:
            [row] = await now.fetch(f"SELECT count(*) AS rows FROM {before}{table}")
            counted[table] = row["rows"]
        return counted

    return await library.app.read(unit)


async def test_a_run_survives_a_worker_killed_at_each_step(library: Library, nursery: Nursery, tmp_path: Path) -> None:
    """The worst moment of each: it is done, and nobody has written that down."""
    await _survives(library, nursery, tmp_path, [(step, MADE) for step in STEPS])


@pytest.mark.slow
async def test_a_run_survives_a_worker_killed_anywhere(library: Library, nursery: Nursery, tmp_path: Path) -> None:
    await _survives(library, nursery, tmp_path, [(step, place) for step in STEPS for place in PLACES])
