"""A batch's status, told from its jobs, and what becomes of it when its models have ended: tables."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from towpath import Job, ProviderJob, ProviderState, State
from towpath.batches.names import COMPLETE
from towpath.batches.provider_state import CompletionState, as_json, state_of
from towpath.batches.records import Ended
from towpath.batches.status import STATUSES, TABLE, of_completion, of_model, standing

C, P, F = "COMPLETED", "PARTIAL_COMPLETE", "FAILED"


def job(state: State, **more) -> Job:
    return Job(id="0198c2f0-0000-7000-8000-000000000001", operation=COMPLETE, queue="batches", state=state, **more)


def ordered(**more) -> ProviderJob:
    row = ProviderJob("p1", "0198c2f0-0000-7000-8000-000000000001", "submit X", 0, "t", "X", "m1", 0, "tow-p1", "{}")
    return replace(row, **more)


@pytest.mark.parametrize(
    ("state", "before", "after"),
    [
        (State.QUEUED, "PENDING", "IN_PROGRESS"),
        (State.RUNNING, "PENDING", "IN_PROGRESS"),
        (State.WAITING, "IN_PROGRESS", "IN_PROGRESS"),
        (State.SUCCEEDED, C, C),
        (State.PARTIAL, P, P),
        (State.FAILED, F, F),
        (State.CANCELLED, "CANCELLED", "CANCELLED"),
    ],
)
def test_the_status_is_its_jobs_state_and_whether_anything_is_under_way(state, before, after):
    assert standing([job(state)], [ordered()]).status == before
    assert standing([job(state)], [ordered(external_id="x")]).status == after
    assert standing([job(state, children_total=2)], []).status == after


def test_every_state_has_a_status_and_every_status_a_state():
    assert TABLE.keys() == set(State)
    assert {status for row in TABLE.values() for status in row} == set(STATUSES)


def test_a_job_that_is_gone_still_speaks_and_without_any_it_has_failed():
    assert standing([], [], Ended("0198", State.PARTIAL)).status == P
    assert standing([], []).status == F


@pytest.mark.parametrize(
    ("models", "status"),
    [([C], C), ([C, C], C), ([C, F], P), ([P], P), ([P, F], P), ([P, P], P), ([C, P], P), ([F], F), ([F, F], F), ([], F)],
)
def test_a_completion_is_what_its_models_are_together(models, status):
    assert of_completion(models) == status


@pytest.mark.parametrize(("ok", "failed", "status"), [(2, 0, C), (1, 1, P), (0, 1, F)])
def test_a_model_is_what_its_requests_are_together(ok, failed, status):
    assert of_model(ok, failed) == status


DOCUMENTED = {
    "task_type": "completion",
    "input_dataset_ids": ["<dataset-uuid>"],
    "jobs": [
        {
            "model": "gemini-2.5-flash",
            "status": "SUBMITTED",
            "external_job_id": "<provider-batch-job-id>",
            "output_uri": "<gcs-uri-to-results>",
            "error": "<set on failure>",
            "transient_failures": 0,
        }
    ],
}


def test_the_documented_state_goes_through_its_model_and_comes_back_the_same():
    assert as_json(CompletionState.model_validate(DOCUMENTED)) == DOCUMENTED


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"external_id": "x", "status": "SUBMITTED", "state": ProviderState.SUBMITTED}, "SUBMITTED"),
        ({"external_id": "x", "status": "validating", "state": ProviderState.SUBMITTED}, "validating"),
        ({"external_id": "x", "status": "done", "state": ProviderState.COMPLETED}, C),
        ({"external_id": "x", "status": "expired", "state": ProviderState.PARTIAL}, P),
        ({"external_id": None, "status": "REFUSED", "state": ProviderState.FAILED}, F),
        ({"external_id": "x", "status": "ERROR", "state": ProviderState.FAILED}, F),
    ],
)
def test_an_order_is_told_in_the_documented_words(row, told):
    state = state_of(SimpleNamespace(dataset_ids=("d",), task_type="completion"), [ordered(**row)])
    [shown] = as_json(state)["jobs"]
    assert (shown["status"], shown["external_job_id"]) == (told, row["external_id"])
    assert shown.keys() == {"model", "status", "external_job_id", "transient_failures"}


@pytest.mark.parametrize("state", [ProviderState.INTENDED, ProviderState.CALLING, ProviderState.UNKNOWN])
def test_what_nobody_has_an_id_of_is_no_state_yet(state):
    assert state_of(SimpleNamespace(dataset_ids=("d",), task_type="completion"), [ordered(state=state)]) is None
