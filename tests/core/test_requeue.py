"""A second chance: fresh budget, open parents, and only what is still true is kept."""

import pytest

from tests.core.trials import NOW, Trial, child, ended, queued, running
from towpath.core import transitions
from towpath.core.lifecycle import State

FAILED_ONCE = {"failures": 3, "retry_laters": 7, "error_json": "{}", "error_kind": "fatal", "error_group": "g"}


def ended_parent(job_id: str = "parent", state: State = State.FAILED, **fields):
    return ended(job_id, state, **{"closing": True, "progress_total": float(fields.get("children_total", 0)), **fields})


@pytest.mark.parametrize("state", [State.FAILED, State.PARTIAL, State.CANCELLED])
def test_requeue_gives_a_fresh_budget_and_a_new_place_but_never_an_old_attempt(state):
    trial = Trial(ended(state=state, attempt=4, result_json="1", **FAILED_ONCE))
    job = trial.does(transitions.requeue("job"))
    assert (job.state, job.ready, job.failures, job.retry_laters) == (State.QUEUED, True, 0, 0)
    assert (job.error_json, job.error_kind, job.result_json, job.finished_at) == (None, None, None, None)
    assert job.attempt == 4
    assert trial.working_set.stamps == {"job": True}
    assert trial.names() == ["job.requeued"]


def test_how_long_a_requeued_job_took_is_counted_from_its_new_start():
    job = Trial(ended(state=State.FAILED, started_at=NOW)).does(transitions.requeue("job"))
    assert job.started_at is None


def test_what_succeeded_is_not_requeued():
    assert "the job is succeeded" in Trial(ended(state=State.SUCCEEDED)).refuses(transitions.requeue("job"))


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.PARTIAL, State.FAILED])
def test_a_requeued_child_reopens_the_parent_that_had_ended_and_is_uncounted(state):
    trial = Trial(
        ended_parent(state=state, children_total=2, children_ok=1, children_bad=1, progress_current=2.0, **FAILED_ONCE),
        child("parent", ended("c")),
    )
    trial.does(transitions.requeue("c"))
    reopened = trial["parent"]
    assert (reopened.state, reopened.reason, reopened.finished_at) == (State.WAITING, "children", None)
    assert (reopened.children_total, reopened.children_ok, reopened.children_bad) == (2, 1, 0)
    assert (reopened.failures, reopened.error_kind, reopened.progress_current) == (0, None, 1.0)
    assert reopened.deadline > NOW


def test_a_requeued_child_that_succeeds_closes_its_parent_again():
    trial = Trial(
        ended_parent(children_total=1, children_bad=1, progress_current=1.0, result_json='"r"'),
        child("parent", ended("c", leased=False)),
    )
    trial.does(transitions.requeue("c"))
    again = trial["c"]
    again.state, again.ready, again.attempt = State.RUNNING, False, 2
    trial.working_set.note(again, "job.started")
    trial.does(transitions.succeed("c", 2, None))
    assert (trial["parent"].state, trial["parent"].result_json) == (State.SUCCEEDED, '"r"')


def test_reopening_travels_up_through_every_generation():
    trial = Trial(
        ended_parent("grandparent", State.PARTIAL, children_total=2, children_ok=1, children_bad=1, progress_current=2.0),
        child("grandparent", ended_parent("parent", children_total=1, children_bad=1, progress_current=1.0)),
        child("parent", ended("c")),
    )
    trial.does(transitions.requeue("c"))
    assert (trial["parent"].state, trial["grandparent"].state) == (State.WAITING, State.WAITING)
    assert (trial["parent"].children_bad, trial["grandparent"].children_bad, trial["grandparent"].children_ok) == (0, 0, 1)


def test_a_living_parent_only_uncounts():
    trial = Trial(running("parent", children_total=2, children_bad=1), child("parent", ended("c"), "gather op"))
    trial["parent"].await_group, trial["parent"].await_open = "gather op", 1
    trial.does(transitions.requeue("c"))
    assert (trial["parent"].state, trial["parent"].children_bad, trial["parent"].await_open) == (State.RUNNING, 0, 2)


def test_a_child_is_not_requeued_under_a_cancelled_ancestor():
    trial = Trial(
        ended_parent("grandparent", State.CANCELLED, children_total=1, children_bad=1),
        child("grandparent", ended_parent("parent", State.CANCELLED, children_total=1, children_bad=1)),
        child("parent", ended("c", State.CANCELLED)),
    )
    assert "requeue that one instead" in trial.refuses(transitions.requeue("c"))


def test_a_requeued_parent_takes_its_unsuccessful_descendants_with_it():
    trial = Trial(
        ended_parent("parent", State.CANCELLED, children_total=3, children_ok=1, children_bad=2),
        child("parent", ended("fine", State.SUCCEEDED)),
        child("parent", ended("failed", State.FAILED)),
        child("parent", ended_parent("middle", State.CANCELLED, children_total=1, children_bad=1)),
        child("middle", ended("leaf", State.CANCELLED)),
    )
    trial.does(transitions.requeue("parent"))
    states = {job_id: job.state for job_id, job in trial.working_set.jobs.items()}
    assert states.pop("fine") is State.SUCCEEDED
    assert set(states.values()) == {State.QUEUED}
    assert (trial["parent"].children_ok, trial["parent"].children_bad, trial["middle"].children_bad) == (1, 0, 0)


def test_a_parent_that_its_children_closed_waits_for_them_again():
    trial = Trial(
        ended_parent(
            state=State.PARTIAL, children_total=2, children_ok=1, children_bad=1, progress_current=2.0, result_json="1"
        ),
        child("parent", ended("fine", State.SUCCEEDED)),
        child("parent", ended("failed")),
    )
    job = trial.does(transitions.requeue("parent"))
    assert (job.state, job.result_json, trial["failed"].state) == (State.WAITING, "1", State.QUEUED)
    assert trial.names("parent") == ["job.reopened"]


def test_a_parent_that_had_gone_on_forgets_what_it_recorded_after_that_fan_out():
    gathered = ended_parent(state=State.FAILED, closing=False, children_total=1, children_bad=1, result_json="1", steps=4)
    trial = Trial(gathered, child("parent", ended("c"), "gather op"))
    trial.does(transitions.requeue("c"))
    assert trial.working_set.steps_dropped == {"parent": "gather op"}
    assert (trial["parent"].await_group, trial["parent"].await_open, trial["parent"].result_json) == ("gather op", 1, None)


def test_an_edited_payload_drops_the_steps_and_lets_the_children_go():
    trial = Trial(
        ended_parent(
            children_total=2, children_ok=1, children_bad=1, progress_current=2.0, steps=4, await_group="g", await_open=1
        ),
        child("parent", ended("c")),
        child("parent", ended("d", State.SUCCEEDED)),
    )
    job = trial.does(transitions.requeue("parent", payload_json='{"new":1}'))
    assert (job.state, job.payload_json, job.steps) == (State.QUEUED, '{"new":1}', 0)
    assert (job.children_total, job.children_ok, job.children_bad) == (0, 0, 0)
    assert (job.progress_current, job.progress_total, job.await_group, job.await_open) == (None, None, None, 0)
    assert trial.working_set.steps_dropped == {"parent": None}
    assert [(trial[name].parent_id, trial[name].root_id) for name in ("c", "d")] == [(None, "c"), (None, "d")]
    assert trial["c"].state is State.FAILED


def test_an_edited_payload_can_keep_steps_and_children():
    trial = Trial(
        ended_parent(closing=False, children_total=1, children_bad=1, steps=4),
        child("parent", ended("c")),
    )
    job = trial.does(transitions.requeue("parent", payload_json='{"new":1}', keep_steps=True))
    assert (job.payload_json, job.steps, job.children_total) == ('{"new":1}', 4, 1)
    assert trial.working_set.steps_dropped == {}
    assert trial["c"].state is State.QUEUED


def test_a_closing_parent_that_is_reopened_knows_that_an_awaited_child_is_open_again():
    trial = Trial(
        ended_parent(children_total=1, children_bad=1, await_group="gather op", await_open=0, progress_current=1.0),
        child("parent", ended("c"), "gather op"),
    )
    trial.does(transitions.requeue("c"))
    assert (trial["parent"].state, trial["parent"].await_open) == (State.WAITING, 1)


def test_a_scheduled_start_of_the_past_does_not_hold_back_a_requeue():
    job = Trial(ended(run_at=NOW)).does(transitions.requeue("job"))
    assert (job.ready, job.run_at) == (True, None)


def test_a_requeued_root_goes_behind_a_gate_that_counts_roots():
    trial = Trial(ended(gate=2, lane="l"))
    job = trial.does(transitions.requeue("job"))
    assert (job.parked, job.reason, trial.working_set.gates) == (True, "capped", {("q", "l")})


def test_siblings_requeued_one_by_one_reopen_the_parent_once():
    trial = Trial(
        ended_parent(closing=False, children_total=2, children_bad=2),
        child("parent", ended("c"), "gather op"),
        child("parent", ended("d"), "gather op"),
    )
    trial.does(transitions.requeue("c"))
    trial.does(transitions.requeue("d"))
    assert (trial["parent"].state, trial["parent"].await_open) == (State.WAITING, 2)
    assert trial.names("parent").count("job.reopened") == 1


def test_a_queued_job_needs_no_second_chance():
    assert "the job is queued" in Trial(queued()).refuses(transitions.requeue("job"))
