"""Search over HTTP: what answers, where it stands, what is named, and to whom it belongs."""

from urllib.parse import quote

import pytest

from tests.engine.working import on_sqlite
from tests.products.knowledge.library import GUIDE, RUN, THEIRS, WALK, Library
from tests.server.api.site import ok, problem
from towpath import search


async def test_a_result_says_what_where_and_why(library: Library):
    [found] = [one for one in await library.results(q="naps couch") if one["document_id"]][:1]
    assert (found["document_id"], found["recording_id"], found["type"], found["title"]) == (GUIDE, None, "pdf", "Guide")
    assert (found["page"], found["start"], found["link"]) == (1, None, f"/documents/{GUIDE}?page=1&passage=0")
    marked = [found["text"][place["start"] : place["end"]] for place in found["highlights"]]
    assert marked == ["naps", "couch"]
    assert found["score"] > 0


async def test_a_line_of_a_recording_opens_at_its_second(library: Library):
    [found] = await library.results(q="heron", how="words")
    assert (found["recording_id"], found["document_id"], found["type"]) == (WALK, None, "recording")
    assert (found["start"], found["end"], found["link"]) == (2.5, 9.0, f"/recordings/{WALK}?t=2")


async def test_a_meaning_is_found_in_other_words(library: Library):
    assert (await library.results(q="where does the young cat sleep"))[0]["page"] == 1


@pytest.mark.parametrize(
    ("asked", "sources"),
    [
        ({}, {GUIDE, WALK}),
        ({"run": RUN}, {GUIDE}),
        ({"run": RUN.upper()}, {GUIDE}),
        ({"type": "recording"}, {WALK}),
        ({"type": "PDF"}, {GUIDE}),
        ({"type": "docx"}, set()),
        ({"document_id": GUIDE}, {GUIDE}),
        ({"recording_id": WALK}, {WALK}),
        ({"recording_id": GUIDE}, set()),
        ({"entity": "person:helen brandt"}, {GUIDE}),
        ({"run": RUN, "type": "recording"}, set()),
        ({"document_id": THEIRS}, set()),
    ],
)
async def test_a_search_is_narrowed(library: Library, asked: dict[str, str], sources: set[str]):
    found = await library.results(q="gates", **asked)
    assert {one["document_id"] or one["recording_id"] for one in found} == sources


async def test_pages_follow_each_other_without_gaps_or_repeats(library: Library):
    whole = await library.results(q="kitten gates lock bridge", limit="50")
    pieces, cursor = [], None
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        answer = ok(
            await library.ann.get("/api/documents/search", params={"q": "kitten gates lock bridge", "limit": 1, **more})
        )
        pieces += answer["results"]
        if (cursor := answer["next"]) is None:
            break
    assert [one["passage_id"] for one in pieces] == [one["passage_id"] for one in whole]
    assert len(whole) > 2


async def test_nothing_of_another_tenant_is_found_or_read(library: Library):
    [theirs] = await library.results(library.bob, q="kitten")
    assert theirs["document_id"] == THEIRS
    assert THEIRS not in str(await library.results(q="kitten hidden person south"))
    problem(await library.ann.get(f"/api/documents/passages/{theirs['passage_id']}"), 404, "not_found")
    assert "hidden" not in str(ok(await library.ann.get("/api/documents/entities")))
    problem(await library.ann.get("/api/documents/search", params={"q": "kitten", "tenant": "south"}), 403, "forbidden")


async def test_an_administrator_names_the_tenant(library: Library):
    assert await library.results(library.root, q="kitten") == []
    [theirs] = await library.results(library.root, q="kitten", tenant="south")
    there = {"tenant": "south"}
    found = ok(await library.root.get(f"/api/documents/passages/{theirs['passage_id']}", params=there))
    assert found["passage"]["document_id"] == THEIRS


async def test_a_passage_is_read_with_its_neighbours(library: Library):
    [found] = await library.results(q="paid", how="words")
    for address in (found["passage_id"], quote(found["passage_id"], safe="")):
        answer = ok(await library.ann.get(f"/api/documents/passages/{address}", params={"around": 1}))
        assert [one["page"] for one in (*answer["before"], answer["passage"], *answer["after"])] == [1, 2, 3]
        assert answer["passage"]["text"] == found["text"]


@pytest.mark.parametrize("passage", [f"document/{GUIDE}/99", f"document/{WALK}/0", "nothing", "document/x", "a/b/c/-1"])
async def test_a_passage_that_is_not_there_is_404(library: Library, passage: str):
    problem(await library.ann.get(f"/api/documents/passages/{passage}"), 404, "not_found")


async def test_entities_are_counted(library: Library):
    answer = ok(await library.ann.get("/api/documents/entities"))
    assert answer["types"] == list(search.SHOWN)
    named = {(one["type"], one["key"]): (one["passages"], one["sources"]) for one in answer["items"]}
    assert named[("person", "helen brandt")] == (1, 1)
    assert ("money", "1250.00 EUR") in named
    people = ok(await library.ann.get("/api/documents/entities", params={"type": "person", "q": "Helen"}))["items"]
    assert [one["key"] for one in people] == ["helen brandt"]
    assert ok(await library.ann.get("/api/documents/entities", params={"type": "colour"}))["items"] == []


async def test_entities_of_one_document_are_counted_in_it_alone(library: Library):
    answer = ok(await library.ann.get("/api/documents/entities", params={"document_id": GUIDE, "type": "person"}))
    assert [(one["key"], one["passages"], one["sources"]) for one in answer["items"]] == [("helen brandt", 1, 1)]
    assert ok(await library.ann.get("/api/documents/entities", params={"document_id": THEIRS}))["items"] == []
    first = ok(await library.ann.get("/api/documents/entities", params={"document_id": GUIDE, "limit": 1}))
    rest = {"document_id": GUIDE, "limit": 1, "cursor": first["next"]}
    assert ok(await library.ann.get("/api/documents/entities", params=rest))["items"] != first["items"]


async def test_documents_and_recordings_can_be_looked_through_alone(library: Library):
    assert {one["type"] for one in await library.results(q="gates", kind="document")} == {"pdf"}
    assert {one["type"] for one in await library.results(q="gates", kind="recording")} == {"recording"}
    twice = {"q": "gates", "kind": "recording", "document_id": GUIDE}
    problem(await library.ann.get("/api/documents/search", params=twice), 422, "invalid")


@on_sqlite
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"q": ""},
        {"q": " "},
        {"q": "x" * 2001},
        {"q": "x", "limit": 0},
        {"q": "x", "limit": 101},
        {"q": "x", "cursor": "-1"},
        {"q": "x", "cursor": "1e9"},
        {"q": "x", "run": "mine"},
        {"q": "x", "type": "a b"},
        {"q": "x", "entity": "nobody"},
        {"q": "x", "how": "luck"},
        {"q": "x", "page": 2},
        {"q": "x", "document_id": GUIDE, "recording_id": WALK},
        {"q": "a\x00b"},
    ],
)
async def test_what_cannot_be_asked_is_refused(library: Library, asked: dict[str, object]):
    refused = problem(await library.ann.get("/api/documents/search", params=asked), 422, "invalid")
    assert refused["detail"]


@on_sqlite
@pytest.mark.parametrize(
    "question", ['"', "-", "NEAR(a b)", "a AND OR", "'; DROP TABLE x", "*:*", "\u202e\u0301", "%_\\", "(((("]
)
async def test_no_question_is_a_syntax_error(library: Library, question: str):
    ok(await library.ann.get("/api/documents/search", params={"q": question}))


@on_sqlite
async def test_a_server_without_the_extra_says_what_to_install(library: Library, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search, "is_installed", lambda: False)
    refused = problem(await library.ann.get("/api/documents/search", params={"q": "x"}), 503, "unavailable")
    assert "towpath[local]" in refused["remedy"]
