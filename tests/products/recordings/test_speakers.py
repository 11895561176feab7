"""Speakers of a recording: one name for all lines, merged, divided, and the same in a transcript that is made later."""

from tests.engine.working import on_sqlite
from tests.products.recordings.ear import Ear
from tests.products.recordings.studio import QUIET, Studio
from tests.server.api.site import ok, problem
from towpath.recordings.speaking import Turn, carried

TALK = [(0.0, 0.2, "good morning", "A"), (0.2, 0.5, "hello", "B"), (0.5, 0.7, "how are you", "A"), (0.7, 0.9, "well", "C")]


async def _talk(studio: Studio, ear: Ear) -> str:
    ear.hears = TALK
    return f"/api/recordings/{(await studio.finished(QUIET, auto_summary='false', speakers='true'))['id']}"


async def _lines(studio: Studio, address: str) -> list[tuple[str, str | None]]:
    found = ok(await studio.ann.get(f"{address}/transcript"))
    return [(segment["text"], segment["speaker"]) for segment in found["segments"]]


async def _again(studio: Studio, address: str) -> None:
    ok(await studio.ann.post(f"{address}/reprocess", json={}), 202)
    async with studio.working():
        await studio.done(address.rpartition("/")[2])


async def test_a_name_is_given_once_and_stands_in_every_line_and_in_later_transcripts(studio: Studio, ear: Ear):
    address = await _talk(studio, ear)
    speakers = ok(await studio.ann.get(f"{address}/speakers"))["speakers"]
    assert [(one["number"], one["name"], one["named"], one["lines"]) for one in speakers] == [
        (1, "Speaker 1", False, 2), (2, "Speaker 2", False, 1), (3, "Speaker 3", False, 1),
    ]  # fmt: skip
    ok(await studio.ann.patch(f"{address}/speakers/1", json={"name": "Ann"}))
    assert await _lines(studio, address) == [
        ("good morning", "Ann"), ("hello", "Speaker 2"), ("how are you", "Ann"), ("well", "Speaker 3"),
    ]  # fmt: skip
    assert "Ann: good morning" in (await studio.ann.get(f"{address}/export")).text

    ear.hears = [(0.0, 0.21, "good mourning", "X"), (0.21, 0.5, "hallo", "Y"), (0.5, 0.9, "how are you well", "X")]
    await _again(studio, address)
    assert [who for _, who in await _lines(studio, address)] == ["Ann", "Speaker 2", "Ann"]
    ok(await studio.ann.patch(f"{address}/speakers/1", json={"name": None}))
    assert (await _lines(studio, address))[0][1] == "Speaker 1"


@on_sqlite
async def test_two_become_one_and_one_becomes_two_and_both_outlive_a_new_transcription(studio: Studio, ear: Ear):
    address = await _talk(studio, ear)
    ok(await studio.ann.post(f"{address}/speakers/3/merge", json={"into": 2}))
    assert [who for _, who in await _lines(studio, address)] == ["Speaker 1", "Speaker 2", "Speaker 1", "Speaker 2"]
    ok(await studio.ann.post(f"{address}/speakers/1/split", json={"lines": [2]}))
    split = [who for _, who in await _lines(studio, address)]
    assert split == ["Speaker 1", "Speaker 2", "Speaker 3", "Speaker 2"]
    await _again(studio, address)
    assert [who for _, who in await _lines(studio, address)] == split


@on_sqlite
async def test_a_line_is_given_to_somebody_else_or_to_somebody_new_and_back(studio: Studio, ear: Ear):
    address = await _talk(studio, ear)
    line = f"{address}/transcript/1"
    assert ok(await studio.ann.patch(line, json={"speaker": "Speaker 1"}))["speaker_number"] == 1
    changed = ok(await studio.ann.patch(line, json={"speaker": "Sam"}))
    assert (changed["speaker"], changed["speaker_number"], changed["speaker_heard"], changed["edited"]) == (
        "Sam",
        4,
        2,
        False,
    )
    await _again(studio, address)
    assert (await _lines(studio, address))[1] == ("hello", "Sam")
    assert ok(await studio.ann.patch(line, json={"speaker": None}))["speaker_number"] == changed["speaker_heard"] + 2


@on_sqlite
async def test_what_makes_no_sense_is_refused_with_what_to_do(studio: Studio, ear: Ear):
    address = await _talk(studio, ear)
    ok(await studio.ann.patch(f"{address}/speakers/1", json={"name": "Ann"}))
    problem(await studio.ann.patch(f"{address}/speakers/9", json={"name": "Nobody"}), 404, "not_found")
    said = problem(await studio.ann.patch(f"{address}/speakers/2", json={"name": "ann"}), 422, "invalid")
    assert "merge the two" in str(said)
    problem(await studio.ann.post(f"{address}/speakers/1/merge", json={"into": 1}), 422, "invalid")
    problem(await studio.ann.post(f"{address}/speakers/1/split", json={"lines": [0, 2]}), 422, "invalid")
    said = problem(await studio.ann.post(f"{address}/speakers/1/split", json={}), 422, "invalid")
    assert "choose the lines" in str(said)
    problem(await studio.bob.patch(f"{address}/speakers/1", json={"name": "Mine"}), 404, "not_found")


def test_voices_that_nobody_said_anything_of_keep_their_numbers_where_they_speak() -> None:
    old = [Turn(0.0, 5.0, 1), Turn(5.0, 9.0, 2)]
    assert carried([Turn(0.0, 5.1, 2), Turn(5.1, 9.0, 1), Turn(9.0, 12.0, 3)], old, frozenset()) == [1, 2, 3]


def test_lines_of_those_who_were_named_stay_theirs_although_the_voice_was_taken_for_another() -> None:
    old = [Turn(0.0, 5.0, 1), Turn(5.0, 9.0, 4)]
    assert carried([Turn(0.0, 5.0, 1), Turn(5.0, 9.0, 1)], old, frozenset({4})) == [1, 4]


def test_the_first_transcript_keeps_its_own_numbers() -> None:
    assert carried([Turn(0.0, 1.0, 2), Turn(1.0, 2.0, None)], [], frozenset()) == [2, None]
