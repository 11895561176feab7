"""towpath prune."""

import pytest


def test_old_good_jobs_go_and_failed_ones_only_if_asked(towpath_on_both):
    towpath_on_both.enqueue("add", {"a": 1, "b": 2})
    towpath_on_both.enqueue("several", {"good": 2})
    towpath_on_both.enqueue("break", {})
    towpath_on_both.drain()
    live = towpath_on_both.enqueue("add", {"a": 1, "b": 2})
    assert towpath_on_both("prune", "--older-than", "1h").stdout == "0 jobs removed\n"
    assert towpath_on_both("prune", "--older-than", "0", "--queue", "sums").stdout == "1 job removed\n"
    assert towpath_on_both("prune", "--older-than", "0s").stdout == "3 jobs removed\n"
    assert towpath_on_both("prune", "--older-than", "0", "--failed").stdout == "1 job removed\n"
    assert [job["id"] for job in towpath_on_both.json("jobs", "list")] == [live]


@pytest.mark.parametrize("age", ["-1d", "yesterday", "", "1y", "9" * 400 + "d"])
def test_an_age_that_is_none_is_refused(towpath, age):
    towpath("migrate")
    assert "--older-than" in towpath("prune", "--older-than", age, code=2).stderr


def test_an_age_must_be_given(towpath):
    assert "--older-than" in towpath("prune", code=2).stderr
