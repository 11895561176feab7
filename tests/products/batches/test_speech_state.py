"""`provider_state` of transcriptions as the state machine's page has it, and how results of each provider are read."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from towpath import ProviderJob, ProviderState, to_json
from towpath.batches.provider_state import as_json, state_of
from towpath.batches.speech_results import text_of
from towpath.batches.speech_state import AwsState, AzureState, GoogleState, SarvamState, SpeechState


def documented(provider: str, **more: Any) -> dict[str, Any]:
    job = {"external_job_id": "<job>", "status": "SUBMITTED", "result": [{}], "error": "<set on failure>"}
    counted = {} if provider == "AZURE" else {"transient_failures": 0}
    own = {"AWS": {"gcs_uri": "<source-gcs-uri>", "filename": "<original-filename>"}, "GOOGLE": {"model": "long"}}
    return {
        "task_type": "transcription", "provider": provider, "dataset_ids": ["<dataset-uuid>"],
        "invalid_urls": ["<url-that-failed-validation>"], "jobs": [job | counted | own.get(provider, {})], **more,
    }  # fmt: skip


SHAPES = [
    (AzureState, documented("AZURE")),
    (SarvamState, documented("SARVAM", gcs_map={"<job-id>": "<gcs-uri>"})),
    (AwsState, documented("AWS")),
    (GoogleState, documented("GOOGLE")),
]


@pytest.mark.parametrize(("shape", "state"), SHAPES)
def test_each_documented_state_goes_through_its_model_and_comes_back_the_same(
    shape: type[SpeechState], state: dict[str, Any]
):
    assert as_json(shape.model_validate(state)) == state


@pytest.mark.parametrize(("shape", "state"), SHAPES)
def test_nothing_else_is_let_in(shape: type[SpeechState], state: dict[str, Any]):
    for wrong in (state | {"more": 1}, state | {"jobs": [state["jobs"][0] | {"more": 1}]}):
        with pytest.raises(ValidationError, match="more"):
            shape.model_validate(wrong)


def told(provider: str, **more: Any) -> dict[str, Any]:
    inputs = [["r0", "a.wav", "s3://b/a.wav", None, 1, "s3://b/a.wav"], ["r1", "b.wav", None, "k", 1, "an-id"]]
    row = ProviderJob("p1", "j1", "submit X", 0, "t", provider, "m1", 0, "tow-p1", to_json({"inputs": inputs}))
    batch = SimpleNamespace(
        id="b1", provider=provider, task_type="transcription", dataset_ids=("d",),
        invalid_inputs=[{"line": 1, "input": "http://x"}],
    )  # fmt: skip
    state = state_of(batch, [replace(row, external_id="x1", **more)])  # type: ignore[arg-type]  # as far as it is asked
    assert state is not None
    return as_json(state)


def test_an_order_with_results_says_where_they_are_and_how_many():
    counts = to_json({"counts": {"total": 2, "completed": 1, "failed": 1}})
    [job] = told("AZURE", state=ProviderState.PARTIAL, answer_json=counts)["jobs"]
    assert job["result"] == [{"uri": "/api/batches/b1/results", "completed": 1, "failed": 1}]
    assert "result" not in told("AZURE", state=ProviderState.FAILED, answer_json=counts)["jobs"][0]


def test_what_stands_for_the_source_is_what_people_have_named():
    assert told("SARVAM")["gcs_map"] == {"x1": "s3://b/a.wav, an-id"}
    [job] = told("AWS")["jobs"]
    assert (job["gcs_uri"], job["filename"]) == ("s3://b/a.wav", "a.wav")
    assert told("GOOGLE")["jobs"][0]["model"] == "m1"
    assert told("GOOGLE")["invalid_urls"] == ["http://x"]


@pytest.mark.parametrize(
    ("provider", "response", "text"),
    [
        ("AZURE", {"combinedRecognizedPhrases": [{"display": "One."}, {"display": "Two."}]}, "One. Two."),
        ("AZURE", {"combinedRecognizedPhrases": None}, ""),
        ("AWS", {"results": {"transcripts": [{"transcript": "One two."}]}}, "One two."),
        ("GOOGLE", {"results": [{"alternatives": [{"transcript": " one"}]}, {}]}, "one"),
        ("SARVAM", {"transcript": "One."}, "One."),
        ("LOCAL", {"segments": [{"text": "One."}, {"text": "Two."}]}, "One. Two."),
        ("MINE", {"text": "One."}, "One."),
        ("AWS", ["what nobody expects"], ""),
        ("GOOGLE", {"results": [{"alternatives": [{}]}]}, ""),
    ],
)
def test_what_was_said_is_read_out_of_each_providers_answer(provider: str, response: Any, text: str):
    assert text_of(provider, response) == text
