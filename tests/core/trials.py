"""Verbs tried on jobs without a database, and a check that the events each of them writes tell the truth about it."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from towpath.core.history import Folded, differences, fold
from towpath.core.lifecycle import STATE_AFTER, TABLE, State
from towpath.core.outcomes import Failure
from towpath.core.records import Event, Job, NewJob
from towpath.core.transitions import Transition
from towpath.core.verbs import perform
from towpath.core.working_set import WorkingSet

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
BROKEN = Failure("fatal", "Fatal", "broken", "mend it")


def queued(job_id: str = "job", **fields: object) -> Job:
    values = {"queue": "q", "operation": "op", "root_id": job_id, "ready": True, "created_at": NOW} | fields
    return Job(id=job_id, **values)


def running(job_id: str = "job", attempt: int = 1, **fields: object) -> Job:
    lease = {"leased": True, "lease_until": NOW + timedelta(seconds=30), "worker_id": "w", "started_at": NOW}
    return queued(job_id, **{"state": State.RUNNING, "ready": False, "attempt": attempt, "seq": 2, **lease, **fields})


def waiting(job_id: str = "job", attempt: int = 1, **fields: object) -> Job:
    wait = {"reason": "signal", "deadline": NOW + timedelta(hours=1), "started_at": NOW, "seq": 3}
    return queued(job_id, **{"state": State.WAITING, "ready": False, "attempt": attempt, **wait, **fields})


def ended(job_id: str = "job", state: State = State.FAILED, attempt: int = 1, **fields: object) -> Job:
    end = {"started_at": NOW, "finished_at": NOW, "seq": 3}
    return queued(job_id, **{"state": state, "ready": False, "attempt": attempt, **end, **fields})


def child(of: str, job: Job, group: str = "spawn op") -> Job:
    job.parent_id, job.root_id, job.child_group = of, of, group
    return job


def follow_up(job_id: str = "next") -> NewJob:
    return NewJob(job_id, "op", "q", "null")


class Trial:
    """A working set and the transitions performed on it. After each, the events must tell what the rows say."""

    def __init__(self, *jobs: Job, now: datetime = NOW) -> None:
        self.working_set = WorkingSet(jobs, now)
        self._told = {job.id: _told_so_far(job) for job in jobs}

    def __getitem__(self, job_id: str) -> Job:
        return self.working_set.jobs[job_id]

    def __call__(self, transition: Transition) -> str | None:
        refused = perform(self.working_set, transition)
        self.working_set.tell_counts()
        for job_id, job in self.working_set.jobs.items():
            assert_truthful(self._told[job_id], self.events(job_id), job)
        return refused

    def does(self, transition: Transition) -> Job:
        refused = self(transition)
        assert refused is None
        return self[transition.job_id]

    def refuses(self, transition: Transition) -> str:
        before = [(before, job, changed) for before, job, changed in self.working_set.changes()]
        events = len(self.working_set.events)
        refused = self(transition)
        assert refused is not None
        assert len(self.working_set.changes()) == len(before)
        assert len(self.working_set.events) == events
        return refused

    def events(self, job_id: str = "job") -> list[Event]:
        return [event for event in self.working_set.events if event.job_id == job_id]

    def names(self, job_id: str = "job") -> list[str]:
        return [event.name for event in self.events(job_id)]


def _told_so_far(job: Job) -> Folded:
    """What the events before this transaction would have told, so that the new ones can be folded on top."""
    return Folded(**{name: getattr(job, name) for name in Folded.__dataclass_fields__})


def assert_truthful(before: Folded, events: list[Event], job: Job) -> None:
    assert legal_end(before.state, events) is job.state
    assert differences(job, _fold_on(before, events)) == []


def _fold_on(before: Folded, events: list[Event]) -> Folded:
    told = {"total": before.children_total, "ok": before.children_ok, "partial": before.children_partial}
    told |= {"bad": before.children_bad, "current": before.progress_current, "of": before.progress_total}
    told |= {"failures": before.failures}
    past = Event("job", before.seq, before.attempt, _event_for(before.state), fields=told)
    return fold([past, *events])


def _event_for(state: State) -> str:
    return next(name for name, after in STATE_AFTER.items() if after is state)


def legal_end(state: State, events: Iterable[Event]) -> State:
    """Follows the state events along the edges of the lifecycle table; a step that is not in the table is an error."""
    for event in events:
        after = STATE_AFTER.get(event.name)
        if after is None:
            continue
        if event.name == "job.waiting" and state is State.WAITING:
            continue  # finished from outside while its children are open: it waits for them instead
        verbs = [verb for verb in TABLE.values() if verb.event == event.name and state in verb.sources]
        assert any(after in verb.targets for verb in verbs), f"{event.name} cannot come while the job is {state.value}"
        state = after
    return state
