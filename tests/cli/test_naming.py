"""Jobs by part of their ids."""

import pytest

from towpath.cli import naming


@pytest.fixture
def ids(towpath):
    return [towpath.enqueue("add", {"a": number, "b": 1}) for number in range(3)]


@pytest.mark.parametrize("part", [slice(-8, None), slice(0, 30), slice(-12, None)])
def test_a_job_is_found_by_how_its_id_begins_or_ends(towpath, ids, part):
    one = ids[1][part]
    assert towpath.json("jobs", "show", one)["id"] == ids[1]
    towpath("explain", one)
    assert towpath("jobs", "cancel", one.upper()).stdout.strip() == f"{ids[1]} cancelled"
    assert towpath("jobs", "retry", one).stdout.strip() == f"{ids[1]} requeued"


def test_several_that_begin_so_are_listed(towpath, ids):
    told = towpath("explain", ids[0][:4], code=2).stderr
    assert all(one in told for one in ids)
    assert all(one in towpath("jobs", "cancel", ids[0][:4], code=2).stderr for one in ids)
    assert {job["state"] for job in towpath.json("jobs", "list")} == {"queued"}


def test_what_is_not_there_is_told_and_how_far_was_looked(towpath, ids):
    assert "newest 10,000 jobs" in towpath("jobs", "show", "ffffffff", code=2).stderr
    assert "nope" in towpath("jobs", "show", "nope", code=2).stderr


def test_the_search_goes_on_over_pages_and_ends(towpath, ids, monkeypatch):
    monkeypatch.setattr(naming, "_PAGE", 1)
    towpath("jobs", "show", ids[0][-8:])
    monkeypatch.setattr(naming, "_PAGES", 2)
    assert "newest 2 jobs" in towpath("jobs", "show", ids[0][-8:], code=2).stderr


def test_deleting_takes_whole_ids(towpath, ids):
    towpath("jobs", "cancel", ids[0])
    towpath("jobs", "delete", ids[0][-8:], code=2)
    assert "deleted" in towpath("jobs", "delete", ids[0]).stdout
