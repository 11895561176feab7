"""How a job ends: each ending once, by the latest attempt only, with its event and its reason."""

import pytest

from tests.core.trials import BROKEN, NOW, Trial, ended, follow_up, queued, running, waiting
from towpath.core import transitions
from towpath.core.lifecycle import TABLE, State
from towpath.core.transitions import Transition


def test_success_keeps_the_result_and_forgets_the_errors_of_earlier_attempts():
    trial = Trial(running(failures=1, error_json='{"kind":"transient"}', error_kind="transient", error_group="x"))
    job = trial.does(transitions.succeed("job", 1, '{"a":1}'))
    assert (job.state, job.result_json, job.finished_at) == (State.SUCCEEDED, '{"a":1}', NOW)
    assert (job.error_json, job.error_kind, job.error_group) == (None, None, None)
    assert (job.leased, job.lease_until, job.worker_id, job.ready) == (False, None, None, False)
    assert job.failures == 1
    assert trial.names() == ["job.succeeded"]


def test_a_partial_end_keeps_result_and_warning_and_is_no_error():
    trial = Trial(running(failures=1, error_json='{"kind":"transient"}', error_kind="transient", error_group="x"))
    job = trial.does(transitions.finish_partial("job", 1, "[1]", "page 3 is missing"))
    assert (job.state, job.result_json, job.error_kind) == (State.PARTIAL, "[1]", None)
    [event] = trial.events()
    assert (event.name, event.message, event.level) == ("job.partial", "page 3 is missing", "warning")


def test_a_failure_records_what_happened_and_counts():
    trial = Trial(running(failures=1))
    job = trial.does(transitions.fail("job", 1, BROKEN))
    assert (job.state, job.failures, job.error_kind) == (State.FAILED, 2, "fatal")
    assert job.error == {"kind": "fatal", "error_class": "Fatal", "message": "broken", "remedy": "mend it"}
    [event] = trial.events()
    assert (event.name, event.level, event.fields["failures"], event.fields["remedy"]) == (
        "job.failed",
        "error",
        2,
        "mend it",
    )


def test_follow_up_jobs_are_made_only_if_the_job_ends_as_asked():
    trial = Trial(running(attempt=2))
    trial.refuses(transitions.succeed("job", 1, None, follow_ups=[follow_up("late")]))
    assert trial.working_set.new_jobs == []
    trial.does(transitions.succeed("job", 2, None, follow_ups=[follow_up("next")]))
    assert [job.id for job in trial.working_set.new_jobs] == ["next"]


def test_a_superseded_attempt_cannot_end_the_job():
    trial = Trial(running(attempt=2))
    for late in (
        transitions.succeed("job", 1, None),
        transitions.finish_partial("job", 1, None, None),
        transitions.fail("job", 1, BROKEN),
        transitions.retry("job", 1, BROKEN, 0),
        transitions.release("job", 1),
    ):
        assert trial.refuses(late) == "attempt 1 was superseded by attempt 2"


@pytest.mark.parametrize("verb", sorted(set(TABLE) - {"enqueue", "claim", "reopen"}))
def test_a_verb_is_refused_from_every_state_that_the_table_does_not_name(verb):
    jobs = {State.QUEUED: queued(attempt=1), State.RUNNING: running(), State.WAITING: waiting()}
    jobs |= {state: ended(state=state) for state in set(State) - set(jobs)}
    for state in set(State) - TABLE[verb].sources:
        assert f"the job is {state.value}, {verb} needs" in Trial(jobs[state]).refuses(Transition(verb, "job", attempt=1))


def test_a_job_that_does_not_exist_is_refused_in_words():
    assert Trial(running()).refuses(transitions.succeed("other", 1, None)) == "the job does not exist"


def test_an_ending_in_a_capped_lane_opens_its_gate():
    trial = Trial(running(gate=1, lane="l"))
    trial.does(transitions.succeed("job", 1, None))
    assert trial.working_set.gates == {("q", "l")}


def test_text_no_database_stores_is_made_plain_in_messages():
    trial = Trial(running())
    trial.does(transitions.finish_partial("job", 1, None, "a\x00b\ud800"))
    assert trial.events()[0].message == "a␀b?"
