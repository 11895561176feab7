"""What the jobs of a bulk have in common.

Most of a bulk is alike. What jobs share, which is everything but id, payload and key, is told once, as a *sort*, and of each
job which sort it is, so that five hundred jobs of ten tenants cost little more than five hundred of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from towpath.core.records import NewJob
from towpath.store.columns import STRAIGHT

SORT = (*STRAIGHT, "root_id", "run_at", "delay")
"""The fields in which jobs of one sort do not differ."""
sort_of = attrgetter(*SORT)


@dataclass(slots=True)
class Sorts:
    examples: list[NewJob]
    """A job of each."""
    numbers: list[int]
    """Of each job, which of them it is."""
    plain: bool
    """Whether none of the jobs has a key, or a time to wait for: all of them become ready, or wait for their lane."""


def sorts_of(jobs: Sequence[NewJob]) -> Sorts:
    known: dict[Any, int] = {}
    examples: list[NewJob] = []
    numbers: list[int] = []
    for job in jobs:
        # Jobs of one mould are alike, unless they have been given a family since.
        sort = id(job.mould) if job.mould is not None and job.parent_id is None and job.key is None else sort_of(job)
        number = known.get(sort)
        if number is None:
            number = known[sort] = len(examples)
            examples.append(job)
        numbers.append(number)
    timeless = all(job.run_at is None and job.delay is None for job in examples)
    return Sorts(examples, numbers, timeless and not any(job.key is not None for job in jobs))
