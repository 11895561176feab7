"""Names of operations, queues and blobs, as they are stored."""

from __future__ import annotations

KIND = "batch"
"""What the jobs work on, see `subject=`; and the message that tells of it."""

COMPLETE = "batches.complete"
ANSWER = "batches.answer"
TRANSCRIBE = "batches.transcribe"
HEAR = "batches.hear"
REMOVE = "batches.remove"
TIDY = "batches.tidy"
QUEUE = "batches"
CARE_QUEUE = "batches.care"

ASK = "batches.ask"
TELL_ASKERS = "batches.tell_askers"
ASK_QUEUE = "batches.requests"
"""Of its own: those who wait for a batch must not take the places of what they wait for."""

ANSWERED, UNANSWERED, WITHDRAWN = "batches.answer", "batches.no_answer", "batches.withdrawn"
FULL = "batches.full"
"""Signals: to whoever asked one request, and to the batch that has enough of them."""

COMPLETION = "completion"
TRANSCRIPTION = "transcription"
OPERATION_OF = {COMPLETION: COMPLETE, TRANSCRIPTION: TRANSCRIBE}

LOCAL = "LOCAL"
"""The provider that is no provider: this installation's own workers, with the chat service or the speech engine of its
settings."""

OPENAI_FILE = "openai"
"""The option of a batch whose file is read as OpenAI reads it, and what else was said of it; see openai_lines.py."""

GATHERED = "gathered"
"""The option of a batch that was put together of requests that came one by one; see gathering.py."""

BATCHES, DATASETS = "batches", "datasets"
"""Folders of the blob store; below them by id."""


def requests_key(batch_id: str) -> str:
    """Every request that was read, as it is asked."""
    return f"{BATCHES}/{batch_id}/requests.jsonl"


def index_key(batch_id: str) -> str:
    """A line for every line of the input, in order: what it is called, and what is wrong with it."""
    return f"{BATCHES}/{batch_id}/index.jsonl"


def results_key(batch_id: str) -> str:
    return f"{BATCHES}/{batch_id}/results.jsonl"


def document_key(batch_id: str) -> str:
    """The results of a transcription as one JSON document; `results_key` has them line by line."""
    return f"{BATCHES}/{batch_id}/results.json"


def download_key(batch_id: str, task_type: str) -> str:
    """The results as people get them: lines of JSON, or one document of it."""
    return document_key(batch_id) if task_type == TRANSCRIPTION else results_key(batch_id)


def file_key(batch_id: str, kind: str) -> str:
    """The answers, or the errors, of a batch whose file was written for OpenAI."""
    return f"{BATCHES}/{batch_id}/{kind}.jsonl"


def work_prefix(batch_id: str) -> str:
    """What is of no more use to anybody when the results are there."""
    return f"{BATCHES}/{batch_id}/work"


def shard_key(batch_id: str, model: int, shard: int) -> str:
    return f"{work_prefix(batch_id)}/shard-{model}-{shard}.jsonl"


def answers_key(batch_id: str, model: int, shard: int) -> str:
    return f"{work_prefix(batch_id)}/answers-{model}-{shard}.jsonl"


def heard_key(batch_id: str) -> str:
    """The inputs of a transcription, a line each, as a provider or a worker gets at them."""
    return f"{work_prefix(batch_id)}/inputs.jsonl"


def staged_prefix(batch_id: str) -> str:
    """Inputs that had to be put where a provider reads them."""
    return f"{work_prefix(batch_id)}/staged"


def returned_prefix(batch_id: str) -> str:
    """Where a provider writes its results, if it wants a place for them."""
    return f"{work_prefix(batch_id)}/returned"


def link_secret_key(batch_id: str) -> str:
    """What the links to a batch's inputs are signed with; without it none of them opens anything."""
    return f"{work_prefix(batch_id)}/link-secret"


def address_key(dataset_id: str) -> str:
    """Where a dataset is to be read from, word for word; gone when that has been done."""
    return f"{DATASETS}/{dataset_id}/address"


def dataset_key(dataset_id: str) -> str:
    return f"{DATASETS}/{dataset_id}/lines.jsonl"
