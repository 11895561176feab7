"""Whose document comes next: what somebody waits for before bulk, one person after the other, and large ones as there is
room."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.products.documents.library import TEXT, Library
from tests.server.api.site import ok
from towpath import Settings
from towpath.documents.rooms import Rooms, half_of_the_machine
from towpath.identity import accounts

MB = 1024 * 1024


async def _order(library: Library, runs: Sequence[str]) -> list[str]:
    """The runs of their items, in the order in which those were begun."""
    begun = []
    for run_id in runs:
        begun += [(item["started_at"], run_id) for item in await library.items(run_id)]
    return [run_id for _, run_id in sorted(begun)]


def _texts(word: str, count: int) -> list[tuple[str, str]]:
    return [(f"{word}-{number}.txt", f"{word} {number} {TEXT}") for number in range(count)]


async def test_what_somebody_waits_for_overtakes_bulk_that_was_there_before(library: Library) -> None:
    bulk = await library.make(*_texts("bulk", 4), priority="bulk")
    urgent = await library.make(*_texts("urgent", 2), priority="interactive")
    async with library.working(concurrency=1):
        await library.done(urgent)
        await library.done(bulk)
    order = await _order(library, [bulk, urgent])
    assert order == [urgent] * 2 + [bulk] * 4


async def test_many_documents_are_bulk_and_few_are_not_unless_one_says_so(library: Library) -> None:
    few = await library.make(*_texts("few", 2))
    many = await library.make(*_texts("many", 21))
    assert (await library.run(few))["priority"] == "interactive"
    assert (await library.run(many))["priority"] == "bulk"


async def test_people_of_one_tenant_take_turns(library: Library) -> None:
    """Ann's six do not keep Amy waiting: hers is begun after one or two of them."""
    await accounts.create(library.app.services.store, "amy", tenants=["north"], admin=False)
    async with await library.site.person("amy") as amy:
        anns = await library.make(*_texts("ann", 6))
        asset = await library.file(f"amy {TEXT}", "amy.txt")
        amys = ok(await library.send([{"asset_id": asset}], by=amy), 202)["id"]
        async with library.working(concurrency=1):
            await library.done(anns)
            await library.done(amys)
    order = await _order(library, [anns, amys])
    assert order.index(amys) <= 2


class TestOfLittleMemory:
    """As with ten PDFs of 500 MB each on a small machine, a hundred times smaller."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, extract_total_mb=30, extract_memory_mb=2048)

    async def test_large_documents_are_read_as_there_is_room_for_them(
        self, library: Library, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[int] = []
        entered = Rooms._entered

        async def watched(rooms: Rooms, needed: int, total: int, priority: int) -> None:
            await entered(rooms, needed, total, priority)
            seen.append(rooms.taken)

        monkeypatch.setattr(Rooms, "_entered", watched)
        large = [(f"{number}.txt", f"{number} {TEXT}\n" + " " * (3 * MB)) for number in range(6)]
        run, _ = await library.finished(*large, settings={"embed": False, "entities": False})
        assert run["status"] == "COMPLETED"
        assert len(seen) == 6
        # Each asks for five times its 3 MB: there is room for one, or two at the most.
        assert 15 * MB <= max(seen) <= 30 * MB
        assert library.app.part(Rooms).taken == 0


class Guests:
    def __init__(self, total: int) -> None:
        self.rooms, self.total, self.inside = Rooms(), total, list[str]()
        self.leave: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def comes(self, name: str, needed: int, priority: int = 0) -> None:
        self.leave[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._stays(name, needed, priority))
        await self._settled()

    async def _stays(self, name: str, needed: int, priority: int) -> None:
        async with self.rooms.room(needed, self.total, priority):
            self.inside.append(name)
            await self.leave[name].wait()
        self.inside.remove(name)

    async def goes(self, name: str) -> None:
        self.leave[name].set()
        await self._settled()

    async def _settled(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)


async def test_nobody_is_let_in_past_the_total_and_the_line_is_kept() -> None:
    guests = Guests(10)
    for name, needed in (("a", 6), ("b", 6), ("c", 1)):
        await guests.comes(name, needed)
    assert guests.inside == ["a"], "a small one does not overtake a large one for ever"
    await guests.goes("a")
    assert guests.inside == ["b", "c"]
    for name in ("b", "c"):
        await guests.goes(name)
    assert guests.rooms.taken == 0


async def test_what_is_urgent_goes_to_the_head_of_the_line() -> None:
    guests = Guests(10)
    for name, needed, priority in (("a", 10, 2), ("bulk", 5, 2), ("urgent", 10, 1)):
        await guests.comes(name, needed, priority)
    await guests.goes("a")
    assert guests.inside == ["urgent"]


async def test_who_needs_more_than_there_is_comes_alone() -> None:
    guests = Guests(10)
    await guests.comes("small", 1)
    await guests.comes("giant", 1000)
    assert guests.inside == ["small"]
    await guests.goes("small")
    assert guests.inside == ["giant"]


async def test_whoever_is_stopped_in_line_leaves_no_gap() -> None:
    guests = Guests(10)
    for name, needed in (("a", 10), ("b", 10), ("c", 10)):
        await guests.comes(name, needed)
    guests.tasks["b"].cancel()
    await guests._settled()
    await guests.goes("a")
    assert guests.inside == ["c"]
    await guests.goes("c")
    assert guests.rooms.taken == 0


async def test_whoever_is_stopped_as_the_door_opens_gives_the_room_back() -> None:
    guests = Guests(10)
    for name, needed in (("a", 10), ("b", 10), ("c", 10)):
        await guests.comes(name, needed)
    guests.leave["a"].set()
    await asyncio.sleep(0)  # `a` goes, and `b` has been let in but has not heard of it
    guests.tasks["b"].cancel()
    await guests._settled()
    assert guests.inside == ["c"]


def test_a_machine_says_how_much_there_is() -> None:
    assert half_of_the_machine() > 100 * MB
