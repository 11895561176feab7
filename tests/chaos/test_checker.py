"""The checker itself: a history without fault passes, and each fault is told by the invariant it breaks."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.chaos.checker import check
from tests.chaos.history import History
from tests.chaos.witness import Sighting
from towpath.core.history import fold
from towpath.core.lifecycle import State
from towpath.core.records import Event, Job

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
PARENT, CHILD, RETRIED, ALONE = "parent", "child", "retried", "alone"
CALLED = "called"


class Story:
    """Builds a history line by line; every line is a tenth of a second after the one before."""

    def __init__(self) -> None:
        self.history = History(
            lane_slots={("main", "narrow"): 1}, lane_roots={("main", "roots"): 1}, queue_slots={"strict": 1}
        )
        self._now = NOON

    def job(self, job_id: str, **columns: Any) -> None:
        facts = {"queue": "main", "operation": "plain", "root_id": job_id} | columns
        self.history.jobs[job_id] = Job(id=job_id, **facts)
        self.event(job_id, "job.created", 0)

    def event(self, job_id: str, name: str, attempt: int, **fields: Any) -> Event:
        self._now += timedelta(seconds=0.1)
        events = self.history.events.setdefault(job_id, [])
        event = Event(job_id, len(events) + 1, attempt, name, fields=fields or None, ts=self._now)
        events.append(event)
        return event

    def saw(self, kind: str, job_id: str | None = None, fence: int | None = None, **facts: Any) -> None:
        self._now += timedelta(seconds=0.001)
        wall = self._now.timestamp()
        self.history.sightings.append(Sighting(kind, 1, wall, wall, job_id, fence, facts))

    def entry(self, job_id: str, attempt: int, *during: Callable[[], object]) -> None:
        self.event(job_id, "job.started", attempt)
        self.saw("start", job_id, attempt)
        for happening in during:
            happening()
        self.saw("end", job_id, attempt)

    def rest(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    def end(self, job_id: str, name: str, attempt: int, **fields: Any) -> None:
        self.event(job_id, name, attempt, **fields)
        self.history.jobs[job_id].result_json = json.dumps({"fence": attempt})

    def told(self) -> History:
        """The rows are what the events say, as they must be."""
        for job_id, job in self.history.jobs.items():
            folded = fold(self.history.of(job_id))
            self.history.jobs[job_id] = replace(job, **{name: getattr(folded, name) for name in folded.__dataclass_fields__})
        return self.history


def faultless() -> Story:
    story = Story()
    story.job(ALONE, payload_json='{"token": "a-1"}')
    story.saw("ack", ALONE, what="enqueue", token="a-1", run_at=NOON.timestamp())
    story.entry(
        ALONE,
        1,
        lambda: story.saw("step", ALONE, 1, name="one"),
        lambda: story.event(ALONE, "step.completed", 1, step="one"),
        lambda: story.event(ALONE, "job.progress", 1, current=1.0, of=2.0),
        lambda: story.event(ALONE, "job.progress", 1, current=2.0, of=2.0),
    )
    story.end(ALONE, "job.succeeded", 1)

    story.job(RETRIED, max_attempts=3)
    story.entry(RETRIED, 1)
    story.event(RETRIED, "job.retry_scheduled", 1, failures=1, delay=0.5)
    story.rest(0.5)
    story.event(RETRIED, "job.started", 2)
    story.saw("start", RETRIED, 2)
    story.rest(1.0)
    story.event(RETRIED, "job.rescued", 2, failures=2)
    story.rest(1.0)
    story.entry(RETRIED, 3)
    story.end(RETRIED, "job.succeeded", 3)

    story.job(PARENT)
    story.entry(PARENT, 1, lambda: story.event(PARENT, "job.spawned", 1, total=1, current=0.0, of=1.0))
    story.job(CHILD, parent_id=PARENT, root_id=PARENT)
    story.event(PARENT, "job.waiting", 1)
    story.entry(CHILD, 1)
    story.end(CHILD, "job.succeeded", 1)
    story.event(PARENT, "job.children", 1, total=1, ok=1, partial=0, bad=0, current=1.0, of=1.0)
    story.end(PARENT, "job.succeeded", 1)

    story.job(CALLED)
    story.entry(CALLED, 1)
    story.event(CALLED, "job.waiting", 1)
    story.event(CALLED, "job.signalled", 1, signal="go")
    story.event(CALLED, "step.completed", 1, step="signal go", kind="signal")
    story.event(CALLED, "job.resumed", 1)
    story.entry(CALLED, 2)
    story.end(CALLED, "job.succeeded", 2)
    return story


def test_a_history_without_fault_has_no_violation() -> None:
    assert check(faultless().told()) == []


def _lose(job_id: str, name: str) -> Callable[[Story], None]:
    def change(story: Story) -> None:
        events = story.history.events[job_id]
        events[:] = [event for event in events if event.name != name]

    return change


def _replaced(history: History, job_id: str, name: str, **changes: Any) -> None:
    events = history.events[job_id]
    events[:] = [replace(event, **changes) if event.name == name else event for event in events]


def an_acknowledged_job_is_gone(story: Story) -> None:
    del story.history.jobs[ALONE], story.history.events[ALONE]
    story.history.sightings[:] = [item for item in story.history.sightings if item.job != ALONE or item.kind == "ack"]


def an_enqueue_made_two_jobs(story: Story) -> None:
    story.job("again", payload_json='{"token": "a-1"}')
    story.event("again", "job.cancelled", 0)


def a_job_never_ended(story: Story) -> None:
    story.job("stuck")


def a_cancel_left_no_trace(story: Story) -> None:
    story.saw("ack", ALONE, what="cancel")


def a_follow_up_is_missing(story: Story) -> None:
    story.history.jobs[ALONE].result_json = '{"fence": 1, "follow_up": "x"}'


def an_attempt_ran_twice(story: Story) -> None:
    story.saw("start", ALONE, 1)


def a_handler_had_no_claim(story: Story) -> None:
    story.saw("start", ALONE, 2)


def two_claims_share_a_number(story: Story) -> None:
    _replaced(story.history, RETRIED, "job.started", attempt=1)


def a_rescue_came_too_soon(story: Story) -> None:
    story.job("hasty")
    story.entry("hasty", 1)
    story.event("hasty", "job.rescued", 1, failures=1)
    story.entry("hasty", 2)
    story.end("hasty", "job.succeeded", 2)


def two_handlers_held_one_job(story: Story) -> None:
    story.job("shared")
    story.event("shared", "job.started", 1)
    story.saw("start", "shared", 1)
    story.event("shared", "job.cancelled", 1)
    story.event("shared", "job.requeued", 1, failures=0)
    story.entry("shared", 2, lambda: story.saw("end", "shared", 1))
    story.end("shared", "job.succeeded", 2)


def a_job_ended_twice(story: Story) -> None:
    story.end(ALONE, "job.succeeded", 1)


def a_claim_skipped_the_queue(story: Story) -> None:
    story.job("skipped")
    story.entry("skipped", 1)
    story.entry("skipped", 2)
    story.end("skipped", "job.succeeded", 2)


def a_superseded_attempt_finished(story: Story) -> None:
    story.history.jobs[RETRIED].result_json = '{"fence": 1}'


def an_ending_names_another_attempt(story: Story) -> None:
    story.job("late")
    story.entry("late", 1)
    story.event("late", "job.released", 1)
    story.entry("late", 2)
    story.end("late", "job.failed", 1, failures=1)


def a_late_attempt_wrote(story: Story) -> None:
    story.event(ALONE, "chaos.late", 1, fence=1)


def a_child_was_counted_twice(story: Story) -> None:
    _replaced(story.history, PARENT, "job.children", fields={"total": 1, "ok": 2, "partial": 0, "bad": 0})


def a_parent_did_not_wait(story: Story) -> None:
    story.job("hasty")
    story.entry("hasty", 1, lambda: story.event("hasty", "job.spawned", 1, total=1))
    story.job("left", parent_id="hasty", root_id="hasty")
    story.end("hasty", "job.succeeded", 1)
    story.entry("left", 1)
    story.end("left", "job.succeeded", 1)
    story.event("hasty", "job.children", 1, total=1, ok=1)


def a_cancelled_job_succeeded(story: Story) -> None:
    story.job("cancelled")
    story.event("cancelled", "job.started", 1)
    story.event("cancelled", "job.cancelled", 1)
    story.end("cancelled", "job.succeeded", 1)


def progress_went_back(story: Story) -> None:
    story.job("back")
    story.event("back", "job.started", 1)
    for current in (2.0, 1.0):
        story.event("back", "job.progress", 1, current=current, of=2.0)
    story.end("back", "job.succeeded", 1)


def progress_overshot(story: Story) -> None:
    story.job("over")
    story.event("over", "job.started", 1)
    story.event("over", "job.progress", 1, current=3.0, of=2.0)
    story.end("over", "job.succeeded", 1)


def a_recorded_step_ran_again(story: Story) -> None:
    story.job("steps")
    story.entry("steps", 1, lambda: story.event("steps", "step.completed", 1, step="one"))
    story.event("steps", "job.released", 1)
    story.entry("steps", 2, lambda: story.saw("step", "steps", 2, name="one"))
    story.end("steps", "job.succeeded", 2)


def a_step_was_recorded_twice(story: Story) -> None:
    story.job("steps")
    story.event("steps", "job.started", 1)
    for _ in range(2):
        story.event("steps", "step.completed", 1, step="one")
    story.end("steps", "job.succeeded", 1)


def a_job_outlived_its_cap(story: Story) -> None:
    story.job("stubborn", max_attempts=1)
    for attempt in (1, 2):
        story.entry("stubborn", attempt)
        story.event("stubborn", "job.retry_scheduled", attempt, failures=attempt, delay=0.0)
    story.entry("stubborn", 3)
    story.end("stubborn", "job.succeeded", 3)


def a_backoff_was_cut_short(story: Story) -> None:
    _replaced(story.history, RETRIED, "job.retry_scheduled", fields={"failures": 1, "delay": 60.0})


def _two_at_once(**columns: Any) -> Callable[[Story], None]:
    def change(story: Story) -> None:
        for job_id in ("first", "second"):
            story.job(job_id, **columns)
        story.entry("first", 1, lambda: story.entry("second", 1))
        for job_id in ("first", "second"):
            story.end(job_id, "job.succeeded", 1)

    return change


def a_job_began_early(story: Story) -> None:
    story.job("early")
    story.saw("ack", "early", what="enqueue", token="e-1", run_at=NOON.timestamp() + 3600)
    story.entry("early", 1)
    story.end("early", "job.succeeded", 1)


def a_schedule_fired_twice(story: Story) -> None:
    for job_id in ("tick", "tock"):
        story.job(job_id, key="schedule nightly 2024-05-01T03:00:00+00:00")
        story.event(job_id, "job.cancelled", 0)


def a_schedule_never_fired(story: Story) -> None:
    story.saw("slot", key="schedule nightly 2024-05-01T03:00:00+00:00")


def one_tenant_was_starved(story: Story) -> None:
    story.history.fair_queues = frozenset({"fair"})
    many = [f"many-{number}" for number in range(60)]
    for job_id in many:
        story.job(job_id, queue="fair", lane="many")
    story.job("few", queue="fair", lane="few")
    for job_id in [*many, "few"]:
        story.entry(job_id, 1)
        story.end(job_id, "job.succeeded", 1)


def a_lease_was_left(story: Story) -> None:
    story.history.jobs[ALONE].leased = True


@pytest.mark.parametrize(
    ("invariant", "fault"),
    [
        ("I1", an_acknowledged_job_is_gone),
        ("I1", an_enqueue_made_two_jobs),
        ("I1", a_job_never_ended),
        ("I1", a_cancel_left_no_trace),
        ("I1", a_follow_up_is_missing),
        ("I2", an_attempt_ran_twice),
        ("I2", a_handler_had_no_claim),
        ("I2", two_claims_share_a_number),
        ("I2", a_rescue_came_too_soon),
        ("I2", two_handlers_held_one_job),
        ("I3", a_job_ended_twice),
        ("I4", _lose(ALONE, "job.started")),
        ("I4", _lose(RETRIED, "job.retry_scheduled")),
        ("I4", _lose(ALONE, "job.created")),
        ("I4", a_claim_skipped_the_queue),
        ("I5", a_superseded_attempt_finished),
        ("I5", an_ending_names_another_attempt),
        ("I5", a_late_attempt_wrote),
        ("I6", a_child_was_counted_twice),
        ("I6", a_parent_did_not_wait),
        ("I7", a_cancelled_job_succeeded),
        ("I8", progress_went_back),
        ("I8", progress_overshot),
        ("I9", a_recorded_step_ran_again),
        ("I9", a_step_was_recorded_twice),
        ("I11", a_job_outlived_its_cap),
        ("I11", a_backoff_was_cut_short),
        ("I12", _two_at_once(lane="narrow")),
        ("I12", _two_at_once(queue="strict")),
        ("I12", _two_at_once(lane="roots")),
        ("I13", a_job_began_early),
        ("I13", a_schedule_fired_twice),
        ("I13", a_schedule_never_fired),
        ("I14", one_tenant_was_starved),
        ("I18", a_lease_was_left),
    ],
)
def test_each_fault_is_told_by_the_invariant_it_breaks(invariant: str, fault: Callable[[Story], None]) -> None:
    story = faultless()
    fault(story)
    assert invariant in {violation.invariant for violation in check(story.told())}


def test_a_row_that_differs_from_its_history_is_told() -> None:
    history = faultless().told()
    history.jobs[ALONE].state = State.FAILED
    assert [violation.invariant for violation in check(history)] == ["I4"]


def test_a_violation_shows_the_job_and_its_events() -> None:
    story = faultless()
    a_cancelled_job_succeeded(story)
    [told] = [str(violation) for violation in check(story.told()) if violation.invariant == "I7"]
    assert "job cancelled" in told
    assert "job.cancelled" in told
    assert "job.succeeded" in told
