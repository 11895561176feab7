"""Lengths and speeds: how much work a recording is."""

import pytest

from towpath import InLine, Work
from towpath.recordings import estimating
from towpath.recordings.estimating import Pace, Speeds
from towpath.recordings.names import REPROCESS_SUMMARY, TRANSCRIBE
from towpath.recordings.workload import NO_SPEED, NO_SUMMARY, work_of

PACE = Pace(10.0, Work.MEASURED)
ROW = {"id": "r", "duration": 600.0, "stated": None, "bytes": 1, "media_type": "audio/wav", "speakers": False}


def work(operation: str, speeds: Speeds, row: dict | None = ROW) -> Work:
    return work_of(InLine("job", "r", operation), row, speeds)


def test_without_a_known_speed_there_is_a_reason_and_still_an_order():
    assert estimating.speed([]) is None
    assert estimating.speed([(0.0, 0.0)]) is None
    short, long = (work(TRANSCRIBE, Speeds(None, None), ROW | {"duration": seconds}) for seconds in (60.0, 600.0))
    assert short.reason == long.reason == NO_SPEED
    assert short.parts.count * short.parts.seconds < long.parts.count * long.parts.seconds
    assert work(REPROCESS_SUMMARY, Speeds(None, None)).reason == NO_SUMMARY


def test_a_recording_takes_its_beginning_its_parts_and_its_end():
    found = work(TRANSCRIBE, Speeds(PACE, None, beginning=0.5, closing=0.2))
    assert found.seconds == 0.5 + 600 / estimating.DECODING
    assert found.parts.count * found.parts.seconds == pytest.approx(60.0)
    assert (found.closing, found.between, found.reason) == (0.2, Work.MEASURED, None)


def test_a_summary_takes_as_long_as_others_did():
    found = work(REPROCESS_SUMMARY, Speeds(None, None, summary=Pace(4.0, Work.KNOWN)))
    assert (found.seconds, found.parts, found.between, found.reason) == (0.25, None, Work.KNOWN, None)


def test_what_is_only_guessed_from_the_size_of_a_file_is_less_certain():
    guessed = work(TRANSCRIBE, Speeds(PACE, None), ROW | {"duration": None, "bytes": 10**7})
    stated = work(TRANSCRIBE, Speeds(PACE, None), ROW | {"duration": None, "stated": 60.0})
    assert guessed.between == Work.KNOWN
    assert stated.between == Work.MEASURED
    assert work(TRANSCRIBE, Speeds(PACE, None), None).between == Work.KNOWN


def test_telling_speakers_apart_has_a_speed_of_its_own():
    speeds = Speeds(Pace(20.0, Work.MEASURED), Pace(1.0, Work.KNOWN))
    assert speeds.of(False).speed == 20.0
    assert speeds.of(True).speed == 1.0
    assert work(TRANSCRIBE, speeds, ROW | {"speakers": True}).between == Work.KNOWN


def test_speed_is_so_much_per_second():
    assert estimating.speed([(100.0, 10.0), (100.0, 10.0)]) == 10.0


def test_the_parts_of_a_recording_take_as_long_as_its_audio_at_this_pace():
    parts = estimating.parts_of(1200.0, PACE)
    assert parts.count * parts.seconds == pytest.approx(120.0)
    assert parts.count * parts.cost == pytest.approx(1200.0)


def test_a_length_is_guessed_from_the_size_until_it_is_known():
    assert estimating.seconds_of(12.5, 13.0, 10**9, "audio/mpeg") == 12.5
    assert estimating.seconds_of(None, 13.0, 10**9, "audio/mpeg") == 13.0
    assert estimating.seconds_of(None, None, 16_000 * 60, "audio/mpeg") == 60
