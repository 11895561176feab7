"""What people corrected survives a new transcription: it is laid onto the new lines, or kept where it can be seen."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.working import on_sqlite
from tests.products.recordings.ear import Ear
from tests.products.recordings.studio import QUIET, Studio
from tests.server.api.site import ok, problem
from towpath.recordings.edits import edits_in, laid_onto
from towpath.recordings.records import Line


def line(number: int, start: float, end: float, heard: str, **fields: object) -> Line:
    return replace(Line(number, start, end, None, heard), **fields)


EDITED = line(0, 0.0, 4.0, "good mourning", edited="Good morning", edited_by="ann")


def test_only_what_somebody_typed_is_an_edit():
    heard = line(0, 0.0, 1.0, "x", speaker="Speaker 1", speaker_heard=1, who=1, edited_by="ann")
    reassigned = line(1, 1.0, 2.0, "y", speaker="Sam", speaker_heard=1, who=2, edited_by="ann")
    assert [(edit.text, edit.speaker, edit.by) for edit in edits_in([heard, reassigned, EDITED])] == [
        ("Good morning", None, "ann"),
    ]


def test_an_edit_goes_to_the_line_of_the_same_stretch_of_time():
    lines = [line(0, 0.2, 4.1, "good moaning"), line(1, 4.2, 8.0, "everyone")]
    laid, left = laid_onto(lines, edits_in([EDITED]))
    assert [(one.text, one.edited_by) for one in laid] == [("Good morning", "ann"), ("everyone", None)]
    assert left == []


@pytest.mark.parametrize("lines", [[], [line(0, 0.0, 8.0, "good morning everyone")], [line(0, 2.0, 4.0, "morning")]])
def test_an_edit_without_such_a_line_is_left_over(lines: list[Line]):
    edits = edits_in([EDITED])
    assert laid_onto(lines, edits) == (lines, edits)


def test_what_is_heard_right_now_needs_no_edit():
    [laid], left = laid_onto([line(0, 0.0, 4.0, "Good morning")], edits_in([EDITED]))
    assert (laid.edited, left) == (None, [])


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 10)), max_size=20), st.lists(st.floats(0, 100), max_size=20))
def test_no_edit_is_lost_or_used_twice(spans: list[tuple[float, float]], starts: list[float]):
    old = [line(n, at, at + long, "x", edited=f"typed {n}", edited_by="ann") for n, (at, long) in enumerate(spans)]
    new = [line(n, at, at + 2.0, "y") for n, at in enumerate(sorted(starts))]
    laid, left = laid_onto(new, edits_in(old))
    kept = [one.edited for one in laid if one.edited] + [edit.text for edit in left]
    assert sorted(kept) == sorted(one.edited for one in old)


async def _reprocessed(studio: Studio, recording_id: str, **asked: object) -> dict:
    ok(await studio.ann.post(f"/api/recordings/{recording_id}/reprocess", json=asked), 202)
    async with studio.working():
        await studio.done(recording_id)
    return ok(await studio.ann.get(f"/api/recordings/{recording_id}/transcript"))


async def test_corrections_outlive_a_new_transcription_until_somebody_drops_them(studio: Studio, ear: Ear):
    ear.hears = [(0.0, 0.4, "good mourning"), (0.5, 0.9, "every one")]
    one = (await studio.finished(QUIET, auto_summary="false"))["id"]
    address = f"/api/recordings/{one}/transcript"
    ok(await studio.ann.patch(f"{address}/0", json={"text": "Good morning"}))
    ok(await studio.ann.patch(f"{address}/1", json={"text": "Everyone", "speaker": "Sam"}))

    ear.hears = [(0.0, 0.41, "good moaning"), (0.5, 0.6, "ever"), (0.6, 0.9, "yone")]
    found = await _reprocessed(studio, one)
    assert [segment["text"] for segment in found["segments"]] == ["Good morning", "ever", "yone"]
    assert [segment["heard"] for segment in found["segments"]] == ["good moaning", "ever", "yone"]
    [unplaced] = found["unplaced_edits"]
    assert (unplaced["text"], unplaced["speaker"], unplaced["heard"]) == ("Everyone", "Sam", "every one")
    assert (unplaced["start"], unplaced["end"], unplaced["edited_by"]) == (0.5, 0.9, "ann")
    assert (await studio.get(one))["transcript"]["unplaced_edits"] == 1

    ear.hears = [(0.5, 0.9, "every one")]
    found = await _reprocessed(studio, one)
    assert [(segment["text"], segment["speaker"]) for segment in found["segments"]] == [("Everyone", "Sam")]
    [unplaced] = found["unplaced_edits"]
    gone = f"/api/recordings/{one}/unplaced-edits/{unplaced['id']}"
    problem(await studio.bob.delete(gone), 404, "not_found")
    assert (await studio.ann.delete(gone)).status_code == 204
    problem(await studio.ann.delete(gone), 404, "not_found")

    found = await _reprocessed(studio, one, replace_edits=True)
    assert [(segment["text"], segment["speaker"]) for segment in found["segments"]] == [("every one", "Sam")]
    assert found["unplaced_edits"] == []


@on_sqlite
async def test_a_correction_of_a_transcript_that_was_just_replaced_is_refused(
    studio: Studio, ear: Ear, monkeypatch: pytest.MonkeyPatch
):
    """Between reading the line and writing it, somebody else's new transcript has come."""
    from towpath.recordings import transcript_routes

    ear.hears = [(0.0, 0.4, "good mourning")]
    one = (await studio.finished(QUIET, auto_summary="false"))["id"]
    read, replaced, really = asyncio.Event(), asyncio.Event(), transcript_routes.correct

    async def late(*args: object) -> object:
        read.set()
        await replaced.wait()
        return await really(*args)

    monkeypatch.setattr(transcript_routes, "correct", late)
    typing = asyncio.create_task(studio.ann.patch(f"/api/recordings/{one}/transcript/0", json={"text": "Good morning"}))
    await asyncio.wait_for(read.wait(), 30)
    await _reprocessed(studio, one)
    replaced.set()
    assert "newer transcript" in problem(await typing, 409, "conflict")["detail"]
