"""The verdict of a remote handler, and what makes two errors the same cause."""

import pytest

from towpath.core.errors import Fatal, RateLimited, SchemaInvalid, Transient
from towpath.core.outcomes import Done, RetryLater, fingerprint, outcome_from_envelope


@pytest.mark.parametrize("status", ["ok", "success", "SUCCEEDED", None])
def test_an_ok_envelope_gives_its_result(status):
    envelope = {"result": {"pages": 3}} if status is None else {"status": status, "result": {"pages": 3}}
    assert outcome_from_envelope(envelope) == Done({"pages": 3})


def test_an_envelope_may_call_its_result_output():
    assert outcome_from_envelope({"status": "ok", "output": [1]}) == Done([1])
    assert outcome_from_envelope({"status": "ok", "output": None, "result": 1}) == Done(None)


@pytest.mark.parametrize("said", ["soon", -1, float("nan"), float("inf"), None, {}])
def test_a_wait_that_is_no_number_of_seconds_says_nothing(said):
    with pytest.raises(RateLimited) as caught:
        outcome_from_envelope({"error_kind": "rate_limited", "retry_after": said})
    assert caught.value.retry_after == 30.0


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("RateLimited", RateLimited),
        ("rate_limited", RateLimited),
        ("Transient", Transient),
        ("SchemaInvalid", SchemaInvalid),
        ("schema-invalid", SchemaInvalid),
        ("FATAL", Fatal),
        ("something new", Transient),
        ("", Transient),
    ],
)
def test_an_envelope_with_an_error_raises_the_category_it_names(kind, error):
    with pytest.raises(error, match="no more pages") as caught:
        outcome_from_envelope({"status": "error", "error_kind": kind, "message": "no more pages"})
    assert type(caught.value) is error


def test_an_error_kind_counts_even_if_the_status_claims_success():
    with pytest.raises(Fatal):
        outcome_from_envelope({"status": "ok", "error_kind": "Fatal"})


def test_a_rate_limited_envelope_carries_its_wait_and_budget():
    with pytest.raises(RateLimited) as caught:
        outcome_from_envelope({"status": "error", "error_kind": "RateLimited", "retry_after": 7, "budget": "b"})
    assert (caught.value.retry_after, caught.value.budget) == (7.0, "b")


def test_errors_that_differ_only_in_numbers_ids_and_names_are_one_group():
    first = "page 17 of '/tmp/a.pdf' (job 0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000) at 0x7f took 3.5 s"
    second = "page 4 of '/tmp/b.pdf' (job 0190cccc-bbbb-7ccc-8ddd-eeeeffff1111) at 0x8a took 12 s"
    assert fingerprint(first) == fingerprint(second)
    assert fingerprint(first) != fingerprint("page missing")


@pytest.mark.parametrize("delay", [-1, float("nan")])
def test_retry_later_cannot_lie_in_the_past(delay):
    with pytest.raises(ValueError, match="zero or more"):
        RetryLater("busy", delay_seconds=delay)
