"""Sources are put in and taken out as a whole, in the caller's transaction, and never twice."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.engine.working import ended, working
from tests.search.indexing import operation
from tests.search.shelf import Shelf
from towpath import SchemaInvalid, search
from towpath.search import Passage, Source, embedded, replace
from towpath.search.spelling import alike


async def test_writing_again_leaves_nothing_twice(shelf: Shelf):
    for _ in range(3):
        await shelf.put("a", "Mr. Jonas Feld waits.", "He waits long.", tags=["x", "x", "y"])
    assert await shelf.rows() == {"source": 1, "tag": 2, "passage": 2, "words": 2, "vectors": 1, "mention": 1}


async def test_what_is_written_anew_is_found_by_its_new_words_only(shelf: Shelf):
    await shelf.put("a", "The harbour is frozen.", "Nobody sails.")
    await shelf.put("a", "The airport is open.")
    assert await shelf.ask("harbour", how="words") == []
    assert await shelf.ask("ship in ice", how="meaning") == ["a"]  # it is all there is
    [hit] = (await shelf.found("airport")).hits
    assert hit.passage.text == "The airport is open."


async def test_a_source_that_is_removed_is_found_no_more_and_leaves_no_row(shelf: Shelf):
    await shelf.put("a", "Mr. Jonas Feld waits.", tags=["x"])
    assert await shelf.take("a")
    assert not await shelf.take("a")
    assert await shelf.ask("waits") == []
    assert set((await shelf.rows()).values()) == {0}
    assert await shelf.app.read(lambda now: alike(now, "ann", ["waitz"])) == []


async def test_words_that_others_still_have_stay_known_for_slips(shelf: Shelf):
    await shelf.put("a", "A zeppelin over the town.")
    await shelf.put("b", "A zeppelin.")
    await shelf.take("a")
    assert await shelf.ask("zepelin", how="words") == ["b"]


async def test_what_is_rolled_back_was_never_there(shelf: Shelf):
    async def unit(tx):
        await replace(tx, Source("ann", "note", "a"), [Passage("A harbour.")], embedded(["A harbour."]))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await shelf.app.transact(unit)
    assert await shelf.ask("harbour") == []


async def test_vectors_have_to_be_as_many_as_passages(shelf: Shelf):
    with pytest.raises(SchemaInvalid, match="2 passages and vectors of 1"):
        await shelf.app.transact(
            lambda tx: replace(tx, Source("ann", "note", "a"), [Passage("x"), Passage("y")], embedded(["x"]))
        )


async def test_a_passage_that_is_far_too_long_is_refused(shelf: Shelf):
    with pytest.raises(SchemaInvalid, match="are the most"):
        await shelf.put("a", "x" * 50_001, meaning=False)


async def test_text_that_no_database_stores_is_stored_without_it(shelf: Shelf):
    await shelf.put("a", "before\x00after \ud800 'quote' \\ \"double\" :colon", title="a\x00b", meaning=False)
    [hit] = (await shelf.found("colon")).hits
    assert "\x00" not in hit.passage.text


async def test_an_operation_that_is_killed_after_its_commit_leaves_nothing_twice(shelf: Shelf, database_url: str):
    """kill -9 between the commit and the job's end: the next attempt does it all again."""
    operation(shelf.app, kill=False)
    job = await shelf.app.enqueue("index", {"id": "a"}, tenant="ann", queue="indexing")
    command = ["-m", "tests.search.indexing", database_url, shelf.app.settings.blobs_url]
    process = await asyncio.create_subprocess_exec(sys.executable, *command, cwd=Path(__file__).parents[2])
    assert await asyncio.wait_for(process.wait(), 60) == -9
    before = await shelf.rows()
    assert before["passage"] == 3
    async with working(shelf.app, "indexing"):
        assert (await ended(shelf.app, job)).state == "succeeded"
    assert await shelf.rows() == before
    assert await shelf.ask("Jonas Feld") == ["a", "a", "a"]


async def test_who_searches_while_a_source_is_written_anew_sees_one_text_or_the_other(shelf: Shelf):
    """Each text has its three passages, and every answer has three of one of them."""
    texts = (
        [f"The harbour is frozen on day {day}." for day in range(3)],
        [f"The harbour is open on day {day}." for day in range(3)],
    )
    await shelf.put("a", *texts[0])
    done = asyncio.Event()

    async def write() -> None:
        for turn in range(12):
            await shelf.put("a", *texts[turn % 2])
        done.set()

    writing = asyncio.create_task(write())
    answers = 0
    while not done.is_set():
        found = await shelf.found("harbour day")
        kinds = {hit.passage.text.split()[3] for hit in found.hits}
        assert (len(found.hits), len(kinds)) == (3, 1)
        answers += 1
    await writing
    assert answers > 0


async def test_two_who_write_the_same_source_at_once_leave_one_of_the_two(shelf: Shelf):
    await asyncio.gather(*(shelf.put("a", f"Text number {number}.", "And more.") for number in range(6)))
    assert (await shelf.rows())["passage"] == 2
    assert (await shelf.rows())["source"] == 1


async def test_attaching_twice_is_once(shelf: Shelf):
    search.attach(shelf.app)
    await shelf.put("a", "Still there.")
    assert await shelf.ask("there") == ["a"]
