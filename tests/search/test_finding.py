"""What is found, on both databases: by words, by meaning, by phrases, and only where it may be looked."""

import pytest

from tests.search.shelf import Shelf
from towpath import SchemaInvalid
from towpath.search import Filter, Line, PassageNotFound, Source, entities, passage, passages_of_lines, sources_of


async def test_a_passage_is_found_by_its_words_and_by_what_it_means(shelf: Shelf):
    await shelf.put("cats", "A kitten is napping on the couch.")
    await shelf.put("tax", "Tax rates rose in May.")
    assert (await shelf.ask("kitten", how="words")) == ["cats"]
    assert (await shelf.ask("young cats asleep", how="words")) == []
    assert (await shelf.ask("a cat asleep on the sofa", how="meaning"))[0] == "cats"
    assert (await shelf.ask("a cat asleep on the sofa"))[0] == "cats"


async def test_what_is_found_says_where_it_stands(shelf: Shelf):
    texts = ["The first page is about the harbour.", "The second speaks of Ärger with the Kräne."]
    await shelf.put("report", *texts, title="Port report", facts={"type": "pdf"})
    [hit, *_] = (await shelf.found("arger krane", how="words")).hits
    assert (hit.passage.page, hit.passage.title, hit.passage.facts) == (2, "Port report", {"type": "pdf"})
    assert [hit.passage.text[start:end] for start, end in hit.highlights] == ["Ärger", "Kräne"]


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("who opens the gates", ["opens", "gates"]),
        ('"the keeper" gates', ["The", "keeper", "the", "gates"]),
        ("the", ["The", "the"]),
    ],
)
async def test_little_words_are_shown_only_if_they_were_quoted_or_are_all_that_was_asked(
    shelf: Shelf, question: str, shown: list[str]
):
    await shelf.put("canal", "The keeper opens the gates.", language="en")
    [hit] = (await shelf.found(question, how="words")).hits
    assert [hit.passage.text[start:end] for start, end in hit.highlights] == shown


async def test_a_transcript_is_found_at_its_second(shelf: Shelf):
    lines = [Line("Good morning everybody.", 0.0, 1.5), Line("The budget is too small.", 61.0, 63.5)]
    await shelf.put_passages(Source("ann", "recording", "r1"), passages_of_lines(lines, tokens=16))
    await shelf.put_passages(Source("ann", "recording", "r2"), [])
    [hit] = (await shelf.found("budgets", how="words")).hits
    assert (hit.passage.kind, hit.passage.source_id, hit.passage.second, hit.passage.until) == ("recording", "r1", 0.0, 63.5)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ('"red gate"', {"a"}),
        ("„red gate“", {"a"}),
        ("gate -red", {"b", "c"}),
        ('gate -"gate is red"', {"a", "b"}),
        ('"gate" "dog"', {"b"}),
        ("GATE", {"a", "b", "c"}),
        ("gates", {"a", "b", "c"}),
        ("gaet", {"a", "b", "c"}),
        ("1250", {"d"}),
        ("1,250.00", {"d"}),
        ("1.250", {"d"}),
        ("inv-2025-7", {"d"}),
        ("nothing like it", set()),
    ],
)
async def test_words_phrases_exclusions_slips_and_numbers(shelf: Shelf, question: str, expected: set[str]):
    await shelf.put("a", "We met at the red gate yesterday.", meaning=False)
    await shelf.put("b", "The dog waits behind a gate.", meaning=False)
    await shelf.put("c", "This gate is red.", meaning=False)
    await shelf.put("d", "Invoice INV-2025-7 says 1,250.00 euros.", meaning=False)
    if question == "gate -red":
        expected = {"b"}
    assert set(await shelf.ask(question)) == expected


async def test_phrases_and_exclusions_hold_for_what_is_found_by_meaning_too(shelf: Shelf):
    await shelf.put("kitten", "A kitten naps on the couch.")
    await shelf.put("cat", "The cat sleeps on the sofa.")
    assert await shelf.ask('"on the couch" sleeping cat') == ["kitten"]
    assert await shelf.ask("sleeping cat -couch") == ["cat"]


@pytest.mark.parametrize("language", ["de", None])
async def test_words_are_cut_to_their_stems_by_the_language_of_their_source(shelf: Shelf, language: str | None):
    text = "Die Häuser sind alt und die Straßen nicht gut, aber das ist auch schön."
    await shelf.put("haus", text, language=language, meaning=False)
    await shelf.put("house", "The houses are old and the roads of the town were not good.", language="en-GB", meaning=False)
    assert await shelf.ask("Haus") == ["haus"]
    assert await shelf.ask("strasse") == ["haus"]
    assert await shelf.ask("road") == ["house"]


async def test_text_without_blanks_is_found(shelf: Shelf):
    await shelf.put("tokyo", "東京都は日本の首都です。", language="ja", meaning=False)
    await shelf.put("kyiv", "Київ є столицею України.", language="uk", meaning=False)
    assert await shelf.ask("首都") == ["tokyo"]
    assert await shelf.ask("київ") == ["kyiv"]


async def test_a_search_is_narrowed_by_kind_id_tag_and_entity(shelf: Shelf):
    await shelf.put("a", "The pump is loud, says Mr. Jonas Feld.", tags=["run:1", "type:pdf"])
    await shelf.put("b", "The pump is quiet.", tags=["run:1"])
    await shelf.put("c", "The pump is new.", kind="recording", tags=["run:2"])

    async def narrowed(**filter) -> set[str]:
        return set(await shelf.ask("pump", filter=Filter(**filter)))

    assert await narrowed() == {"a", "b", "c"}
    assert await narrowed(kind="note") == {"a", "b"}
    assert await narrowed(kind="note", ids=["b", "c"]) == {"b"}
    assert await narrowed(tags=["run:1"]) == {"a", "b"}
    assert await narrowed(tags=["run:1", "type:pdf"]) == {"a"}
    assert await narrowed(entity=("person", "jonas feld")) == {"a"}
    assert await narrowed(tags=["run:3"]) == set()
    with pytest.raises(SchemaInvalid, match="ids are told apart"):
        await narrowed(ids=["a"])


async def test_pages_follow_each_other_without_gaps_or_repeats(shelf: Shelf):
    for number in range(7):
        await shelf.put(f"n{number}", f"The pump number {number} is loud.")
    seen, after = [], None
    while True:
        found = await shelf.found("pump", limit=3, after=after)
        seen += [hit.passage.source_id for hit in found.hits]
        if (after := found.after) is None:
            break
    assert sorted(seen) == [f"n{number}" for number in range(7)]


@pytest.mark.parametrize(
    ("options", "said"), [({"limit": 0}, "between 1 and 100"), ({"after": "x"}, "no place in this list")]
)
async def test_what_cannot_be_is_refused_in_words(shelf: Shelf, options: dict, said: str):
    with pytest.raises(SchemaInvalid, match=said):
        await shelf.found("pump", **options)


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
async def test_an_empty_question_is_refused_in_words(shelf: Shelf, question: str):
    with pytest.raises(SchemaInvalid, match="nothing to search for"):
        await shelf.found(question)


async def test_a_passage_is_read_with_its_neighbours(shelf: Shelf):
    await shelf.put("a/b", "One.", "Two.", "Three.", "Four.")
    [hit] = (await shelf.found("three", how="words")).hits
    assert [one.text for one in await passage(shelf.app, "ann", hit.passage.id, around=1)] == ["Two.", "Three.", "Four."]
    for gone in ("note/a/b/9", "note/a/b", "nonsense", "", "note//1", "note/a/b/-1", "note/a/b/²"):
        with pytest.raises(PassageNotFound):
            await passage(shelf.app, "ann", gone)


async def test_entities_are_counted_and_lead_to_their_sources(shelf: Shelf):
    await shelf.put("a", "Mr. Jonas Feld wrote to office@north.example.", "Herr Jonas Feld called.", title="Letter")
    await shelf.put("b", "Ask Jonas. Mr. Jonas Feld knows 100% of it.")
    found, after = await entities(shelf.app, "ann")
    assert [(one.type, one.key, one.passages, one.sources) for one in found] == [
        ("person", "jonas feld", 3, 2),
        ("email", "office@north.example", 1, 1),
    ]
    assert after is None
    assert [one.key for one in (await entities(shelf.app, "ann", type="email"))[0]] == ["office@north.example"]
    assert [one.key for one in (await entities(shelf.app, "ann", begins="jon"))[0]] == ["jonas feld"]
    assert (await entities(shelf.app, "ann", begins="%"))[0] == []
    listed, _ = await sources_of(shelf.app, "ann", "person", "jonas feld")
    assert [(one.id, one.title, one.passages) for one in listed] == [("a", "Letter", 2), ("b", "", 1)]
    _, more = await entities(shelf.app, "ann", limit=1)
    assert [one.type for one in (await entities(shelf.app, "ann", limit=1, after=more))[0]] == ["email"]


@pytest.mark.parametrize(
    ("typed", "key"),
    [("Sjö", "sjoberg"), ("SJO", "sjoberg"), ("po-4", "PO-48213"), ("PO-4", "PO-48213"), ("12.50 E", "12.50 EUR")],
)
async def test_what_is_named_is_found_by_how_it_begins_however_that_is_typed(shelf: Shelf, typed: str, key: str):
    await shelf.put("a", "Mrs. Sjöberg paid 12.50 EUR for order PO-48213.")
    found, _ = await entities(shelf.app, "ann", begins=typed)
    assert [one.key for one in found] == [key]
