"""Fair turns at SQLite's write lock: one at a time, in order, and without giving the interpreter away on the way."""

import fcntl
import threading

import pytest

from towpath.store.sqlite.turnstile import Turnstile


@pytest.fixture
def two(tmp_path):
    pair = Turnstile(tmp_path / "jobs.db"), Turnstile(tmp_path / "jobs.db")
    yield pair
    for turnstile in pair:
        turnstile.close()


def test_one_at_a_time(two):
    ours, theirs = two
    inside, order = threading.Event(), []

    def other():
        inside.set()
        with theirs.turn():
            order.append("theirs")

    with ours.turn():
        waiting = threading.Thread(target=other)
        waiting.start()
        assert inside.wait(10)
        order.append("ours")
    waiting.join(10)
    assert order == ["ours", "theirs"]


def test_a_turn_that_ends_with_an_error_is_over(two):
    ours, theirs = two
    with pytest.raises(ValueError, match="odd"), ours.turn():
        raise ValueError("odd")
    with theirs.turn():
        pass


def test_a_turn_that_nobody_stands_in_the_way_of_does_not_let_other_threads_run(two, monkeypatch):
    """Otherwise a busy event loop would take the interpreter and keep whoever holds the write lock waiting."""
    ours, _ = two

    def gives_way(*_):
        raise AssertionError("it let go of the interpreter's lock")

    monkeypatch.setattr(fcntl, "flock", gives_way)
    with ours.turn():
        pass


def test_a_lock_that_cannot_be_taken_is_an_error_that_says_so(tmp_path):
    turnstile = Turnstile(tmp_path / "jobs.db")
    turnstile.close()
    with pytest.raises(OSError, match="turnstile"), turnstile.turn():
        pass
