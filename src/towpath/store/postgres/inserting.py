"""What the statements that insert jobs are sent."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

from pydantic_core import to_json

from towpath.core.records import NewJob
from towpath.store.columns import STRAIGHT, straight_of
from towpath.store.sorts import SORT, sort_of, sorts_of

_lane_of = attrgetter("queue", "priority", "lane")


def one(job: NewJob) -> dict[str, Any]:
    """For `insert_one`."""
    return dict(zip(STRAIGHT, straight_of(job), strict=True)) | {
        "id": job.id, "payload": job.payload_json, "key": job.key, "root_id": job.root_id, "run_at": job.run_at,
        "delay": job.delay,
    }  # fmt: skip


def many(jobs: Sequence[NewJob], *, lock: bool = True) -> dict[str, Any]:
    """For `insert_jobs`; unless told otherwise it takes the lanes' locks itself."""
    sorts = sorts_of(jobs)
    lanes = [_lane_of(job) for job in sorts.examples]
    added_up = sorts.plain and not _mixed(sorts.examples)
    costs: dict[tuple[str, int, str], float] = {}
    spent: list[float] = []
    for job, number in zip(jobs, sorts.numbers, strict=True):
        lane = lanes[number]
        costs[lane] = cost = costs.get(lane, 0.0) + job.cost
        spent.append(cost)
    # Of each sort the server's join takes the last job first. Sent last first, jobs of one lane are inserted at the ends of
    # their indexes, in order, which takes the server a twelfth less. In whatever order, they end up the same: costs are
    # added up already.
    sent = slice(None, None, -1) if added_up else slice(None)
    return {
        "locks": lane_locks(costs) if lock else [],
        "ids": ",".join([job.id for job in jobs[sent]]),
        "payloads": [job.payload_json for job in jobs[sent]],
        "sorts": to_json([dict(zip(SORT, sort_of(job), strict=True)) for job in sorts.examples]).decode(),
        "sort_of": [number + 1 for number in sorts.numbers[sent]],  # as PostgreSQL counts
        "spent": spent[sent] if added_up else None,
        "keys": None if added_up else [job.key for job in jobs],
    }


def _mixed(examples: Sequence[NewJob]) -> bool:
    """Whether root jobs and children go to one lane. Its gate may hold back the ones and not the others. Only the database
    knows whether it does, so what they cost is added up there."""
    families: dict[tuple[str, int, str], bool] = {}
    return any(families.setdefault(_lane_of(job), job.parent_id is None) is not (job.parent_id is None) for job in examples)


def lanes_of(jobs: Sequence[NewJob]) -> set[tuple[str, int, str]]:
    return {_lane_of(job) for job in jobs}


def lane_locks(lanes: Any) -> list[int]:
    """Sorted: whoever takes several takes them in the same order, so that no two wait for each other."""
    return sorted(_hash(*lane) for lane in lanes)


@lru_cache(maxsize=4096)  # the same few lanes come by a million times
def _hash(queue: str, priority: int, lane: str) -> int:
    name = f"{queue}\x1f{priority}\x1f{lane}"
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), signed=True)
