"""Tags, files of the same content, and how a file's name ends: what people find a recording by beside its title."""

import pytest

from tests.engine.working import on_sqlite
from tests.products.recordings.media import encoded, silence
from tests.products.recordings.studio import QUIET, Studio
from tests.server.api.site import ok, problem
from towpath import SchemaInvalid
from towpath.recordings import tags

ADDRESS = "/api/recordings"


def test_capitals_and_spaces_do_not_tell_two_tags_apart():
    assert tags.tags_from(["Board  meeting", "board Meeting", "Müller", "MÜLLER"]) == {
        "board meeting": "Board meeting",
        "müller": "Müller",
    }
    for wrong in ("", "  ", "x" * 51):
        with pytest.raises(SchemaInvalid):
            tags.tags_from([wrong])


async def test_tags_are_given_taken_away_filtered_by_and_counted(studio: Studio):
    one, two, three = [(await studio.upload(encoded(silence(1 + n / 10), "wav")))["id"] for n in range(3)]
    tagged = ok(await studio.ann.patch(f"{ADDRESS}/{one}", json={"tags": ["Board", "2026"]}))
    assert tagged["tags"] == ["2026", "Board"]
    assert tagged["title"] == "quiet"
    many = {"action": "tag", "ids": [one, two, three], "tags": ["board", "Later"]}
    assert ok(await studio.ann.post(f"{ADDRESS}/bulk", json=many)) == {"done": 3, "refused": {}}
    assert (await studio.get(one))["tags"] == ["2026", "board", "Later"]

    async def listed(*wanted: str) -> list[str]:
        page = ok(await studio.ann.get(ADDRESS, params=[("tag", one) for one in wanted]))
        return [one["id"] for one in page["items"]]

    assert await listed("BOARD") == [three, two, one]
    assert await listed("board", "2026") == [one]
    assert await listed("2025") == []
    some = ok(await studio.ann.get(ADDRESS, params={"id": [one, three]}))["items"]
    assert {row["id"] for row in some} == {one, three}
    assert ok(await studio.bob.get(ADDRESS, params={"id": [one]}))["items"] == []
    known = ok(await studio.ann.get(f"{ADDRESS}/tags"))
    assert known == [{"tag": "board", "recordings": 3}, {"tag": "Later", "recordings": 3}, {"tag": "2026", "recordings": 1}]
    away = {"action": "untag", "ids": [one, two], "tags": ["LATER"]}
    assert ok(await studio.ann.post(f"{ADDRESS}/bulk", json=away))["done"] == 2
    assert await listed("later") == [three]
    ok(await studio.ann.delete(f"{ADDRESS}/{three}"))
    assert [tag["tag"] for tag in ok(await studio.ann.get(f"{ADDRESS}/tags"))] == ["board", "2026"]


@on_sqlite
async def test_too_many_tags_or_too_long_ones_are_refused_and_nothing_changes(studio: Studio):
    one = (await studio.upload())["id"]
    ok(await studio.ann.patch(f"{ADDRESS}/{one}", json={"tags": [f"t{n}" for n in range(30)]}))
    problem(await studio.ann.patch(f"{ADDRESS}/{one}", json={"tags": ["x" * 51]}), 422, "invalid")
    refused = ok(await studio.ann.post(f"{ADDRESS}/bulk", json={"action": "tag", "ids": [one], "tags": ["one more"]}))
    assert (refused["done"], "at most 30" in refused["refused"][one]) == (0, True)
    assert len((await studio.get(one))["tags"]) == 30


@on_sqlite
async def test_nobody_tags_what_is_another_tenants(studio: Studio):
    one = (await studio.upload())["id"]
    ok(await studio.ann.patch(f"{ADDRESS}/{one}", json={"tags": ["ours"]}))
    problem(await studio.bob.patch(f"{ADDRESS}/{one}", json={"tags": ["theirs"]}), 404, "not_found")
    bulk = {"action": "tag", "ids": [one], "tags": ["theirs"]}
    assert ok(await studio.bob.post(f"{ADDRESS}/bulk", json=bulk))["done"] == 0
    assert ok(await studio.bob.get(f"{ADDRESS}/tags")) == []
    assert (await studio.get(one))["tags"] == ["ours"]


async def test_files_of_the_same_content_know_of_each_other_and_a_name_tells_its_ending(studio: Studio):
    first = (await studio.upload(QUIET, "Talk.WAV"))["id"]
    second = (await studio.upload(QUIET, "the same talk.mp3"))["id"]
    other = (await studio.upload(encoded(silence(1.5), "wav"), "README"))["id"]
    theirs = (await studio.upload(QUIET, "talk.wav", by=studio.bob))["id"]
    rows = {one["id"]: one for one in ok(await studio.ann.get(ADDRESS))["items"]}
    told = {id: (row["extension"], row["duplicates"], row["duplicate_of"]) for id, row in rows.items()}
    assert told == {first: ("wav", 1, None), second: ("mp3", 1, first), other: (None, 0, None)}
    assert (await studio.get(theirs, studio.bob))["duplicates"] == 0
    ok(await studio.ann.delete(f"{ADDRESS}/{first}"))
    assert (await studio.get(second))["duplicates"] == 0
