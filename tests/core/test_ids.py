"""Ids are made by the client, sort by creation, and are version 7."""

import threading
import time
from uuid import UUID

from towpath.core import ids
from towpath.core.ids import uuid7, uuid7s


def test_ids_of_one_process_only_ever_grow():
    made = [uuid7() for _ in range(5000)]
    assert made == sorted(set(made))


def test_ids_made_by_several_threads_are_all_different():
    made: list[list[str]] = [[] for _ in range(4)]
    threads = [threading.Thread(target=lambda own=own: own.extend(uuid7() for _ in range(500))) for own in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one for own in made for one in own}) == 2000
    assert all(own == sorted(own) for own in made)


def test_an_id_is_a_uuid_of_version_seven_with_the_time_in_front():
    before = time.time_ns() // 1_000_000
    made = UUID(uuid7())
    assert made.version == 7
    assert made.variant == "specified in RFC 4122"
    assert before <= made.int >> 80 <= time.time_ns() // 1_000_000 + 1


def test_ids_keep_growing_when_the_clock_is_set_back(monkeypatch):
    last = uuid7()
    monkeypatch.setattr(ids.time, "time_ns", lambda: 1_000_000_000)
    assert last < uuid7() < uuid7()


def test_many_ids_at_once_are_like_those_made_one_by_one():
    first, made, last = uuid7(), uuid7s(5000), uuid7()
    assert [first, *made, last] == sorted({first, *made, last})
    assert all(UUID(one).version == 7 and UUID(one).variant == "specified in RFC 4122" for one in made)
    assert len({one[24:] for one in made}) == 5000
    assert uuid7s(0) == []
