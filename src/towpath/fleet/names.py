"""Names of operations, queues, signals and blobs, as they are stored."""

from __future__ import annotations

KIND = "task"
"""What the jobs work on, see `subject=`; and the message that tells of it."""

WORKER = "fleet_worker"
"""The message that tells of a remote worker: it came or went, or another number of its slots is busy."""

RUN = "fleet.task"
AFTER = "fleet.after"
REMOVE = "fleet.remove"
QUEUE, BUCKETS_QUEUE = "fleet", "fleet.buckets"
"""Whatever has to do with buckets is for orchestrators, which have the keys to them; any worker serves the other."""
QUEUES = (QUEUE, BUCKETS_QUEUE)
CARE_LANE = "fleet care"
"""What is left to do of ended tasks must not wait for room among those that are open."""
CARE_QUEUE = "fleet.care"

ENDED = "fleet.ended"
"""The signal that an attempt has come to something; the attempt's number follows behind a colon."""

HERE = ""
"""As a source or target the blob store of this installation; as a route workers that ask over HTTPS."""

FLEET = "fleet"
"""Folder of the blob store; below it by task. In a bucket it is `towpath`, which is nobody else's."""
IN_BUCKET = "towpath"

TRANSCRIBE_FILE = "transcribe_file"


def ended(attempt: int) -> str:
    return f"{ENDED}:{attempt}"


def result_key(task_id: str) -> str:
    return f"{FLEET}/{task_id}/result"


def work_prefix(target: str, task_id: str, attempt: int) -> str:
    """What belongs to one attempt only. Whoever comes too late writes there, and nobody reads it."""
    return f"{FLEET if target == HERE else IN_BUCKET}/{task_id}/attempts/{attempt}"


def output_key(target: str, task_id: str, attempt: int) -> str:
    return f"{work_prefix(target, task_id, attempt)}/output"


def control_key(target: str, task_id: str, attempt: int) -> str:
    """What a worker that only has a queue looks at with each heartbeat: whether to stop, and fresh URLs."""
    return f"{work_prefix(target, task_id, attempt)}/control.json"


def queue_of(source: str, target: str) -> str:
    return QUEUE if source == target == HERE else BUCKETS_QUEUE
