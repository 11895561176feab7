"""What the statements that insert jobs are sent.

Most of a bulk is alike. What jobs have in common is sent once, as a *sort*, and of each job which sort it is, so that five
hundred jobs of ten tenants cost little more than five hundred of one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

from pydantic_core import to_json

from towpath.core.records import NewJob
from towpath.store.columns import STRAIGHT, straight_of

_PLANNED = ("root_id", "run_at", "delay")
_sort_of = attrgetter(*STRAIGHT, *_PLANNED)
_lane_of = attrgetter("queue", "priority", "lane")


def one(job: NewJob) -> dict[str, Any]:
    """For `insert_one`."""
    return dict(zip(STRAIGHT, straight_of(job), strict=True)) | {
        "id": job.id, "payload": job.payload_json, "key": job.key, "root_id": job.root_id, "run_at": job.run_at,
        "delay": job.delay,
    }  # fmt: skip


def many(jobs: Sequence[NewJob], *, lock: bool = True) -> dict[str, Any]:
    """For `insert_jobs`; unless told otherwise it takes the lanes' locks itself."""
    sorts: dict[Any, int] = {}  # -> its number, from 1
    examples: list[NewJob] = []
    lanes: list[tuple[str, int, str]] = [("", 0, "")]  # of each sort; there is none of number 0
    sort_of: list[int] = []
    spent: list[float] = []
    costs: dict[tuple[str, int, str], float] = {}
    for job in jobs:
        # Jobs of one mould are alike, unless they have been given a family since.
        plain = job.mould is not None and job.parent_id is None and job.key is None
        sort = id(job.mould) if plain else _sort_of(job)
        number = sorts.get(sort)
        if number is None:
            number = sorts[sort] = len(sorts) + 1
            examples.append(job)
            lanes.append(_lane_of(job))
        sort_of.append(number)
        lane = lanes[number]
        costs[lane] = cost = costs.get(lane, 0.0) + job.cost
        spent.append(cost)
    careful = any(job.run_at is not None or job.delay is not None for job in examples) or any(job.key for job in jobs)
    return {
        "locks": lane_locks(costs) if lock else [],
        "ids": ",".join([job.id for job in jobs]),
        "payloads": [job.payload_json for job in jobs],
        "sorts": to_json([dict(zip((*STRAIGHT, *_PLANNED), _sort_of(job), strict=True)) for job in examples]).decode(),
        "sort_of": sort_of,
        "spent": None if careful else spent,
        "keys": [job.key for job in jobs] if careful else None,
    }


def lanes_of(jobs: Sequence[NewJob]) -> set[tuple[str, int, str]]:
    return {_lane_of(job) for job in jobs}


def lane_locks(lanes: Any) -> list[int]:
    """Sorted: whoever takes several takes them in the same order, so that no two wait for each other."""
    return sorted(_hash(*lane) for lane in lanes)


@lru_cache(maxsize=4096)  # the same few lanes come by a million times
def _hash(queue: str, priority: int, lane: str) -> int:
    name = f"{queue}\x1f{priority}\x1f{lane}"
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), signed=True)
