"""Parents and children: each child counts once, the last one closes the parent, and an ending takes the others along."""

from datetime import timedelta

import pytest

from tests.core.trials import BROKEN, NOW, Trial, child, ended, queued, running, waiting
from towpath.core import transitions
from towpath.core.lifecycle import State
from towpath.core.verbs import perform


def parent(job_id: str = "parent", *, total: int, ok: int = 0, partial: int = 0, bad: int = 0, **fields):
    counts = {"children_total": total, "children_ok": ok, "children_partial": partial, "children_bad": bad}
    progress = {"progress_current": float(ok + partial + bad), "progress_total": float(total)}
    return waiting(job_id, **{"reason": "children", "closing": True, "result_json": '"r"', **counts, **progress, **fields})


def counts_of(job):
    return (job.children_total, job.children_ok, job.children_partial, job.children_bad)


def test_the_last_child_closes_a_parent_that_is_done():
    trial = Trial(parent(total=2, ok=1), child("parent", running("c")))
    trial.does(transitions.succeed("c", 1, None))
    closed = trial["parent"]
    assert (closed.state, closed.result_json, closed.finished_at) == (State.SUCCEEDED, '"r"', NOW)
    assert (closed.progress_current, closed.progress_total) == (2.0, 2.0)
    assert trial.names("parent") == ["job.children", "job.succeeded"]


def test_a_child_that_is_not_the_last_only_counts():
    trial = Trial(parent(total=3, ok=1), child("parent", running("c")))
    trial.does(transitions.succeed("c", 1, None))
    assert (trial["parent"].state, counts_of(trial["parent"])) == (State.WAITING, (3, 2, 0, 0))


@pytest.mark.parametrize(
    ("ended_before", "last", "state"),
    [
        ({"ok": 1}, transitions.succeed("c", 1, None), State.SUCCEEDED),
        ({"ok": 1}, transitions.fail("c", 1, BROKEN), State.PARTIAL),
        ({"bad": 1}, transitions.succeed("c", 1, None), State.PARTIAL),
        ({"ok": 1}, transitions.finish_partial("c", 1, None, None), State.PARTIAL),
        ({"bad": 1}, transitions.finish_partial("c", 1, None, None), State.PARTIAL),
        ({"bad": 1}, transitions.fail("c", 1, BROKEN), State.FAILED),
        ({"bad": 1}, transitions.cancel("c"), State.FAILED),
    ],
)
def test_all_children_ok_is_succeeded_some_is_partial_none_is_failed(ended_before, last, state):
    trial = Trial(parent(total=2, **ended_before), child("parent", running("c")))
    trial.does(last)
    assert trial["parent"].state is state
    assert (trial["parent"].error_kind == "children") is (state is State.FAILED)


def test_a_fan_out_of_nothing_succeeds_at_once():
    trial = Trial(running())
    job = trial.does(transitions.close_with_children("job", 1, '"r"', 3600))
    assert (job.state, job.result_json) == (State.SUCCEEDED, '"r"')
    assert (job.progress_current, job.progress_total) == (None, None)


def test_a_parent_whose_children_ended_before_it_was_done_is_closed_at_once():
    trial = Trial(running(children_total=2, children_ok=1, children_bad=1, progress_current=2.0, progress_total=2.0))
    assert trial.does(transitions.close_with_children("job", 1, None, 3600)).state is State.PARTIAL


def test_success_with_open_children_means_waiting_for_them():
    trial = Trial(running("parent", children_total=1), child("parent", queued("c")))
    job = trial.does(transitions.succeed("parent", 1, '"r"'))
    assert (job.state, job.reason, job.closing) == (State.WAITING, "children", True)


def test_a_parent_closed_by_its_children_shows_no_error_of_an_earlier_attempt():
    failed_once = {"failures": 1, "error_json": '{"kind":"transient"}', "error_kind": "transient", "error_group": "x"}
    for last, state in (
        (transitions.succeed("c", 1, None), State.SUCCEEDED),
        (transitions.finish_partial("c", 1, None, None), State.PARTIAL),
    ):
        trial = Trial(parent(total=1, **failed_once), child("parent", running("c")))
        trial.does(last)
        assert (trial["parent"].state, trial["parent"].error_json, trial["parent"].error_kind) == (state, None, None)


def test_the_last_awaited_child_wakes_its_parent():
    gathering = parent(total=2, ok=1, closing=False, await_group="gather op", await_open=1)
    trial = Trial(gathering, child("parent", running("c"), "gather op"))
    trial.does(transitions.fail("c", 1, BROKEN))
    woken = trial["parent"]
    assert (woken.state, woken.ready, woken.wakes, woken.await_open) == (State.QUEUED, True, 1, 0)
    assert trial.names("parent") == ["job.children", "job.resumed"]


def test_a_child_of_another_group_does_not_wake_a_gathering_parent():
    gathering = parent(total=3, closing=False, await_group="gather op", await_open=1)
    trial = Trial(gathering, child("parent", running("c"), "spawn op"))
    trial.does(transitions.succeed("c", 1, None))
    assert (trial["parent"].state, trial["parent"].await_open) == (State.WAITING, 1)


def test_an_awaited_child_that_ends_before_the_parent_defers_is_not_lost():
    trial = Trial(
        running("parent", children_total=1, await_group="gather op", await_open=1, wakes=5),
        child("parent", running("c"), "gather op"),
    )
    trial.does(transitions.succeed("c", 1, None))
    job = trial.does(transitions.defer("parent", 1, "children", wakes_seen=5, deadline=None, max_wait=60))
    assert job.state is State.QUEUED


def test_an_ending_travels_up_through_every_generation():
    trial = Trial(
        parent("grandparent", total=1),
        child("grandparent", parent("parent", total=1)),
        child("parent", running("c")),
    )
    trial.does(transitions.succeed("c", 1, None))
    assert [trial[name].state for name in ("c", "parent", "grandparent")] == [State.SUCCEEDED] * 3


def test_progress_of_its_own_is_not_overwritten_by_children():
    trial = Trial(parent(total=2, progress_current=7.0, progress_total=70.0), child("parent", running("c")))
    trial.does(transitions.succeed("c", 1, None))
    assert (trial["parent"].progress_current, trial["parent"].progress_total) == (7.0, 70.0)


def test_many_children_in_one_transaction_are_one_event_for_the_parent():
    trial = Trial(parent(total=5), *(child("parent", running(f"c{n}")) for n in range(5)))
    for n in range(4):
        assert perform(trial.working_set, transitions.succeed(f"c{n}", 1, None)) is None
    trial.working_set.tell_counts()
    [event] = trial.events("parent")
    assert (event.name, event.fields["ok"], event.fields["total"]) == ("job.children", 4, 5)


def test_cancel_takes_every_living_descendant_along_and_leaves_ended_ones_alone():
    trial = Trial(
        running("parent", children_total=3, children_ok=1),
        child("parent", queued("waiting in line")),
        child("parent", parent("middle", total=1)),
        child("parent", ended("done", State.SUCCEEDED)),
        child("middle", running("leaf")),
    )
    trial.does(transitions.cancel("parent", "no longer wanted"))
    states = {job_id: job.state for job_id, job in trial.working_set.jobs.items()}
    assert states.pop("done") is State.SUCCEEDED
    assert set(states.values()) == {State.CANCELLED}
    assert counts_of(trial["parent"]) == (3, 1, 0, 2)
    assert trial.events("parent")[0].message == "no longer wanted"


def test_cancel_keeps_the_lease_until_the_handler_has_ended():
    trial = Trial(running("parent", children_total=2), child("parent", running("c")), child("parent", queued("q")))
    trial.does(transitions.cancel("parent"))
    assert [(trial[name].leased, trial[name].worker_id) for name in ("parent", "c", "q")] == [
        (True, "w"), (True, "w"), (False, None),
    ]  # fmt: skip


def test_a_cancelled_job_is_never_anything_else_afterwards():
    trial = Trial(running())
    trial.does(transitions.cancel("job"))
    trial.refuses(transitions.succeed("job", 1, None))
    trial.refuses(transitions.fail("job", 1, BROKEN))
    trial.refuses(transitions.cancel("job"))
    assert trial["job"].state is State.CANCELLED


@pytest.mark.parametrize("closing", [True, False], ids=["closing", "gathering"])
@pytest.mark.parametrize(
    "ending",
    [
        transitions.expire("parent", 1),
        transitions.fail("parent", 1, BROKEN),
        transitions.finish_partial("parent", 1, None, "enough"),
    ],
    ids=lambda transition: transition.verb,
)
def test_a_parent_that_ends_while_waiting_ends_once_and_takes_its_children_along(ending, closing):
    awaits = {} if closing else {"closing": False, "await_group": "spawn op", "await_open": 2}
    trial = Trial(
        parent("grandparent", total=2, ok=1),
        child("grandparent", parent("parent", total=3, ok=1, deadline=NOW, **awaits)),
        child("parent", running("c")),
        child("parent", queued("d")),
    )
    trial.does(ending)
    expected = State.PARTIAL if ending.verb == "finish_partial" else State.FAILED
    assert trial["parent"].state is expected
    assert (trial["c"].state, trial["d"].state) == (State.CANCELLED, State.CANCELLED)
    assert counts_of(trial["parent"]) == (3, 1, 0, 2)
    assert trial["grandparent"].children_ended == 2
    endings = [
        name for name in trial.names("parent") if name in ("job.failed", "job.partial", "job.succeeded", "job.resumed")
    ]
    assert endings == [f"job.{expected.value}"]
    assert "parent" not in trial.working_set.stamps


def test_a_parent_that_crashes_for_the_last_time_takes_its_children_along():
    crashed = running("parent", children_total=1, failures=2, lease_until=NOW - timedelta(seconds=1))
    trial = Trial(crashed, child("parent", queued("c")))
    trial.does(transitions.rescue("parent", 1))
    assert (trial["parent"].state, trial["c"].state) == (State.FAILED, State.CANCELLED)


def test_a_retry_leaves_the_children_running():
    trial = Trial(running("parent", children_total=1), child("parent", running("c")))
    trial.does(transitions.retry("parent", 1, BROKEN, 0))
    assert trial["c"].state is State.RUNNING
