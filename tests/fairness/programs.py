"""Random histories of a queue: open-loop tenants that pour, closed-loop clients that come back, cancels, due bursts."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

LANES = ("ann", "bob", "cyd", "client")
CLOSED = "client"  # enqueues its next job as soon as the last one was claimed
WEIGHTS = {"bob": 2.0, "cyd": 0.5}
BANDS = (0, 1, 1, 1, 2)
# Powers of two, so that sums are exact however a database adds them up.
COSTS = (0.5, 1.0, 1.0, 1.0, 8.0)


@dataclass(frozen=True)
class Add:
    lane: str
    band: int
    cost: float
    count: int
    due: bool = False
    """They were scheduled and fall due now, together."""


@dataclass(frozen=True)
class Claim:
    count: int


@dataclass(frozen=True)
class Cancel:
    """The job at this position of all that are ready, counted round and round."""

    which: int


@dataclass(frozen=True)
class GiveBack:
    """One of the claimed jobs comes back: a retry, a release, a rescue."""

    which: int


Move = Add | Claim | Cancel | GiveBack

adds = st.builds(
    Add, st.sampled_from(LANES), st.sampled_from(BANDS), st.sampled_from(COSTS), st.integers(1, 6), due=st.booleans()
)
moves = st.one_of(
    adds,
    adds,
    st.builds(Claim, st.integers(1, 6)),
    st.builds(Claim, st.integers(1, 6)),
    st.builds(Cancel, st.integers(0, 50)),
    st.builds(GiveBack, st.integers(0, 50)),
)
programs = st.lists(moves, min_size=5, max_size=30)
