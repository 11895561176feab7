"""Nobody finds, counts or guesses at what is another tenant's."""

import pytest

from tests.search.shelf import Shelf
from towpath.search import Filter, PassageNotFound, entities, mentions_in, passage, sources_of
from towpath.search.spelling import alike
from towpath.search.terms import mark


@pytest.fixture
async def two(shelf: Shelf) -> Shelf:
    await shelf.put("plan", "The zeppelin leaves at dawn, says Mr. Jonas Feld.", tenant="ann", tags=["run:1"])
    await shelf.put("plan", "The bicycle is red.", tenant="bob", tags=["run:1"])
    return shelf


@pytest.mark.parametrize("how", ["both", "words", "meaning"])
async def test_a_search_finds_the_tenants_own(two: Shelf, how: str):
    found = await two.found("zeppelin at dawn", tenant="bob", how=how)
    assert {hit.passage.text for hit in found.hits} <= {"The bicycle is red."}
    assert (await two.found("anything", tenant="carl", how=how)).hits == ()


async def test_neither_filters_nor_ids_lead_to_another_tenant(two: Shelf):
    for filter in (Filter(kind="note", ids=["plan"]), Filter(tags=["run:1"]), Filter(entity=("person", "jonas feld"))):
        assert await two.ask("zeppelin", tenant="bob", filter=filter, how="words") == []
    assert [one.text for one in await passage(two.app, "bob", "note/plan/0")] == ["The bicycle is red."]
    with pytest.raises(PassageNotFound):
        await passage(two.app, "carl", "note/plan/0")


async def test_entities_are_the_tenants_own(two: Shelf):
    assert (await entities(two.app, "bob"))[0] == []
    assert (await sources_of(two.app, "bob", "person", "jonas feld"))[0] == []
    assert await mentions_in(two.app, "bob", "note", "plan") == []
    assert len(await mentions_in(two.app, "ann", "note", "plan")) == 1


async def test_a_slip_is_compared_with_the_tenants_own_words(two: Shelf):
    assert await two.app.read(lambda now: alike(now, "ann", ["zepelin"])) == ["zeppelin"]
    assert await two.app.read(lambda now: alike(now, "bob", ["zepelin"])) == []


async def test_removing_takes_nothing_of_a_namesake(two: Shelf):
    await two.take("plan", tenant="bob")
    assert await two.ask("zeppelin", tenant="ann") == ["plan"]


async def test_nobody_gets_at_others_by_writing_their_mark(two: Shelf):
    for question in (f"{mark('ann')}zeppelin", f'"{mark("ann")}zeppelin"', f"{mark('ann')}*"):
        assert await two.ask(question, tenant="bob", how="words") == []


async def test_two_tenants_with_one_mark_are_still_apart(two: Shelf, monkeypatch: pytest.MonkeyPatch):
    for module in ("terms", "by_words", "writing", "spelling"):
        monkeypatch.setattr(f"towpath.search.{module}.mark", lambda tenant: "same_")
    await two.put("secret", "A submarine.", tenant="ann")
    await two.put("open", "A tricycle.", tenant="bob")
    assert await two.ask("submarine", tenant="bob", how="words") == []
    assert await two.ask("submarine", tenant="ann", how="words") == ["secret"]
