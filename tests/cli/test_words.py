"""Times, durations and sizes in words."""

from datetime import UTC, datetime, timedelta

import pytest

from towpath.cli import words

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("12H", 43200), (" 30d ", 2592000), ("2 w", 1209600)]
)
def test_durations_are_read(text, seconds):
    assert words.parse_duration(text, "--age") == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.25, "250 ms"), (1.25, "1.2 s"), (90, "1 min 30 s"), (3700, "1 h 1 min"), (864000, "10 days"), (-1, "0 ms")],
)
def test_durations_are_told(seconds, text):
    assert words.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "5 s ago"), (-30, "in 30 s"), (90, "2 min ago"), (7200, "2 h ago"), (-172800, "in 2 d")]
)
def test_moments_are_told_by_their_distance(seconds, text):
    assert words.age(NOON - timedelta(seconds=seconds), NOON) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 bytes"), (2048, "2.0 KB"), (5 * 1024**4, "5.0 TB")])
def test_sizes_are_told(number, text):
    assert words.size(number) == text


def test_hints_call_the_program_as_it_was_called(tmp_path, monkeypatch):
    program = tmp_path / "tools" / "towpath"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(program)])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert words.program() == "tools/towpath"
    monkeypatch.setenv("PATH", str(program.parent))
    assert words.program() == "towpath"
    monkeypatch.setattr("sys.argv", ["pytest"])
    assert words.program() == "towpath"
