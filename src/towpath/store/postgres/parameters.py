"""What the hot statements are sent. Lists travel as one text each: the driver looks at every item of an array many times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from towpath.core.ids import FIRST_ID
from towpath.core.transitions import Transition
from towpath.store.contract import Claim
from towpath.store.postgres.tx import sparse

NOTHING = Claim("", 0, "", 0.0, cursors={})
"""What a turn asks for that only settles."""


def claimed_rows(rows: list[Any]) -> list[Any]:
    """The jobs in the answer to a turn: all rows but the last, which is about the settles."""
    return rows[:-1]


def endings(transitions: Sequence[Transition]) -> dict[str, Any]:
    """Plain successes as parameters, which are sorted by id: rows are locked in that order."""
    return {
        "ids": ",".join([t.job_id for t in transitions]),
        "attempts": ",".join([str(t.attempt) for t in transitions]),
        "results": sparse([t.result_json for t in transitions]),
        "asked": len(transitions),
    }


def request(claim: Claim) -> dict[str, Any]:
    bands = sorted(claim.cursors)
    return {
        "queue": claim.queue,
        "bands": ",".join(map(str, bands)),
        "cursors": ",".join([repr(claim.cursors[band]) for band in bands]),
        "after": ",".join([claim.after.get(band, FIRST_ID) for band in bands]),
        "limit": claim.limit,
        "counted": False,
        "worker_id": claim.worker_id,
        "lease": claim.lease_seconds,
    }
