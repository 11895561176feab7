"""How a janitor notices that nobody could beat: by two clocks, neither of which needs to move."""

from datetime import UTC, datetime, timedelta

import pytest

from towpath.core.records import WorkerRow
from towpath.engine.running.heartbeat import Heartbeat
from towpath.engine.tending.vigil import Vigil
from towpath.store.contract import Renewed

LEASE = 30.0
START = datetime(2030, 1, 1, tzinfo=UTC)


class Sky:
    """Our clock and the database's, and a vigil that looks at both."""

    def __init__(self) -> None:
        self.ours, self.theirs = 1000.0, START
        self.vigil = Vigil(LEASE, lambda: self.ours)
        self.vigil.look(self.theirs)

    def pass_time(self, ours: float, theirs: float | None = None) -> bool:
        self.ours += ours
        self.theirs += timedelta(seconds=ours if theirs is None else theirs)
        return self.vigil.look(self.theirs)


def test_a_vigil_lasts_while_looks_follow_each_other():
    sky = Sky()
    assert sky.vigil.seconds == 0
    assert all(sky.pass_time(5.0) for _ in range(8))
    assert sky.vigil.seconds == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        pytest.param(60.0, 60.0, id="frozen, or the database was away"),
        pytest.param(5.0, 3605.0, id="the machine slept, or the clock was moved ahead"),
        pytest.param(5.0, -3595.0, id="the clock was moved back"),
        pytest.param(60.0, 0.0, id="the database's machine slept"),
    ],
)
def test_a_gap_begins_the_vigil_anew(ours, theirs):
    sky = Sky()
    for _ in range(8):
        sky.pass_time(5.0)
    assert not sky.pass_time(ours, theirs)
    assert sky.vigil.seconds == 0
    assert sky.pass_time(5.0)
    assert sky.vigil.seconds == pytest.approx(5.0)


def test_a_small_delay_is_no_gap():
    sky = Sky()
    assert sky.pass_time(LEASE / 3, LEASE / 3 + 1)
    assert sky.vigil.seconds == pytest.approx(10.0)


def test_who_has_not_looked_has_no_vigil():
    assert Vigil(LEASE).seconds == 0.0


class Steady:
    """A heart that always gets through."""

    def __init__(self, sky: Sky) -> None:
        self._sky = sky

    def beat(self, worker, leases, lease_seconds):
        return Renewed(now=self._sky.theirs)

    def close(self):
        pass


def test_a_blocked_event_loop_is_no_gap_because_its_worker_goes_on_beating():
    """Others could beat as well, so their leases mean what they say."""
    sky = Sky()
    heartbeat = Heartbeat(Steady(sky), WorkerRow("w", "w"), LEASE, lambda *_: None, sky.vigil)
    for _ in range(6):  # a minute without a look of the janitor
        sky.ours += LEASE / 3
        sky.theirs += timedelta(seconds=LEASE / 3)
        assert heartbeat._beat()
    assert sky.pass_time(1.0)
    assert sky.vigil.seconds == pytest.approx(2 * LEASE + 1)
