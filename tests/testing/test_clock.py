"""The clock of tests: it moves when told to, and only forward."""

from datetime import UTC, datetime, timedelta

import pytest

from towpath import App, ConfigurationError
from towpath.testing import FakeClock


def test_the_clock_stands_still_until_it_is_moved():
    clock = FakeClock(datetime(2031, 5, 1, tzinfo=UTC))
    assert clock() == clock() == datetime(2031, 5, 1, tzinfo=UTC).timestamp()
    assert clock.advance(90) == datetime(2031, 5, 1, 0, 1, 30, tzinfo=UTC)
    assert clock.advance(timedelta(hours=1)) == clock.now == datetime(2031, 5, 1, 1, 1, 30, tzinfo=UTC)


def test_the_clock_never_goes_back():
    clock = FakeClock()
    before = clock.now
    with pytest.raises(ValueError, match="forward only"):
        clock.advance(-1)
    assert clock.advance_to(before - timedelta(days=1)) == before
    assert clock.advance_to(before + timedelta(days=1)) == before + timedelta(days=1)


def test_a_start_without_a_time_zone_is_refused():
    with pytest.raises(ValueError, match="time zone"):
        FakeClock(datetime(2031, 5, 1))  # noqa: DTZ001  (this is the mistake)


async def test_postgresql_keeps_its_own_time_and_says_so():
    with pytest.raises(ConfigurationError, match="keeps its own time"):
        await App("postgresql://nobody@localhost/nothing", clock=FakeClock()).open()
