"""What a look at a provider's job means for its row: the table of `judging.py`, line by line."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from towpath import Fatal, ProviderJob, ProviderState, RateLimited, Transient
from towpath.engine.polling import Polling
from towpath.engine.tending.judging import judge
from towpath.providers import Answer, Counts, Phase, Vanished

NOW = datetime(2030, 1, 2, tzinfo=UTC)
POLLING = Polling()
ROW = ProviderJob(
    "1", "2", "submit AZURE", 0, "anna", "AZURE", "long", 0, "tow-1", "{}", ProviderState.SUBMITTED,
    external_id="ext", status="RUNNING", submitted_at=NOW - timedelta(minutes=10), deadline=NOW + timedelta(hours=25),
)  # fmt: skip
RUNNING = Answer("RUNNING", Phase.RUNNING)


@pytest.mark.parametrize(
    ("phase", "state"),
    [
        (Phase.COMPLETED, ProviderState.COMPLETED),
        (Phase.PARTIAL, ProviderState.PARTIAL),
        (Phase.FAILED, ProviderState.FAILED),
        (Phase.CANCELLED, ProviderState.CANCELLED),
    ],
)
def test_what_has_ended_is_written_down_and_polled_no_more(phase: Phase, state: ProviderState):
    after = judge(ROW, Answer("WORD", phase, output_uri="s3://b/k"), NOW, POLLING)
    assert (after.state, after.status, after.next_poll_at, after.output_uri) == (state, "WORD", None, "s3://b/k")


def test_a_failure_without_a_reason_gets_one():
    assert "no reason" in (judge(ROW, Answer("Failed", Phase.FAILED), NOW, POLLING).error or "")


@pytest.mark.parametrize(("age", "seconds"), [(0, 1), (5, 1), (60, 6), (600, 60), (1200, 120), (90_000, 120)])
def test_young_jobs_are_looked_at_sooner(age: float, seconds: float):
    row = replace(ROW, submitted_at=NOW - timedelta(seconds=age))
    after = judge(row, RUNNING, NOW, POLLING)
    assert after.state is ProviderState.SUBMITTED
    assert after.next_poll_at == NOW + timedelta(seconds=seconds)


def test_the_time_that_a_provider_asks_for_is_honoured():
    after = judge(ROW, Answer("RUNNING", Phase.RUNNING, retry_after=500), NOW, POLLING)
    assert after.next_poll_at == NOW + timedelta(seconds=500)


def test_a_429_does_not_count():
    tried = replace(ROW, transient_failures=2)
    after = judge(tried, RateLimited("slow down", retry_after=700), NOW, POLLING)
    assert (after.state, after.transient_failures) == (ProviderState.SUBMITTED, 2)
    assert after.next_poll_at == NOW + timedelta(seconds=700)


@pytest.mark.parametrize("error", [Transient("503"), Fatal("401"), ValueError("an adapter's mistake")])
def test_the_third_error_in_a_row_fails_it(error: Exception):
    first = judge(ROW, error, NOW, POLLING)
    second = judge(first, error, NOW, POLLING)
    third = judge(second, error, NOW, POLLING)
    assert [row.state for row in (first, second, third)] == [
        ProviderState.SUBMITTED, ProviderState.SUBMITTED, ProviderState.FAILED,
    ]  # fmt: skip
    assert [row.transient_failures for row in (first, second, third)] == [1, 2, 3]
    assert third.next_poll_at is None
    assert third.error == str(error)


def test_a_good_look_forgives_errors_before_it():
    after = judge(replace(ROW, transient_failures=2, error="503"), RUNNING, NOW, POLLING)
    assert (after.transient_failures, after.error) == (0, None)


def test_what_is_not_known_three_times_is_lost():
    after = judge(replace(ROW, transient_failures=2), Vanished("404"), NOW, POLLING)
    assert (after.state, after.status) == (ProviderState.FAILED, "LOST")
    assert (after.error or "").startswith("provider_lost")


def test_the_last_look_is_at_the_deadline():
    row = replace(ROW, submitted_at=NOW - timedelta(hours=25), deadline=NOW + timedelta(seconds=30))
    assert judge(row, RUNNING, NOW, POLLING).next_poll_at == row.deadline


@pytest.mark.parametrize("look", [RUNNING, Transient("503"), RateLimited("slow down")])
def test_when_the_time_is_up_it_has_failed(look: Answer | Exception):
    after = judge(replace(ROW, deadline=NOW), look, NOW, POLLING)
    assert (after.state, after.next_poll_at) == (ProviderState.FAILED, None)
    assert "within 26 hours" in (after.error or "")


def test_what_ended_by_the_last_look_counts():
    after = judge(replace(ROW, deadline=NOW), Answer("Succeeded", Phase.COMPLETED), NOW, POLLING)
    assert after.state is ProviderState.COMPLETED


def test_counts_and_facts_are_kept_for_people():
    after = judge(ROW, Answer("RUNNING", Phase.RUNNING, counts=Counts(10, 4, 1), detail={"percent": 50}), NOW, POLLING)
    assert after.answer == {"percent": 50, "counts": {"total": 10, "completed": 4, "failed": 1}}
