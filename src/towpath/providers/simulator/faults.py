"""What can go wrong at a provider. A fault is armed for the next job, or the next request, that it can strike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum


class Fault(StrEnum):
    # Of a request: it strikes the next one that can have it.
    LOST_ANSWER = "lost_answer"
    """The job is accepted and paid for, and the answer to its submission is a 500."""
    RATE_LIMITED = "rate_limited"
    """429 with Retry-After, before anything is done."""
    UNAVAILABLE = "unavailable"
    """503, before anything is done."""
    DENIED = "denied"
    """The credentials are no longer good: 401 or the provider's own word for it."""
    EXPIRED_URL = "expired_url"
    """A link to results that was answered has expired when it is followed; asking again gives a fresh one."""
    TRUNCATED = "truncated"
    """The body of the results breaks off in the middle."""
    # Of a job: it is marked when it is made.
    BACKWARDS = "backwards"
    """Its status moves back once before it goes on."""
    UNKNOWN_STATUS = "unknown_status"
    """It has a status nobody has heard of for a while."""
    PARTIAL = "partial"
    """Some of its inputs or requests fail."""
    FAILS = "fails"
    """All of it fails."""
    NEVER_ENDS = "never_ends"
    VANISHES = "vanishes"
    """After its first poll the provider knows nothing of it."""


OF_JOBS = frozenset({Fault.BACKWARDS, Fault.UNKNOWN_STATUS, Fault.PARTIAL, Fault.FAILS, Fault.NEVER_ENDS, Fault.VANISHES})


class Faults:
    """Those that are armed, and how often each still strikes."""

    def __init__(self) -> None:
        self._armed: Counter[Fault] = Counter()

    def arm(self, fault: Fault, times: int = 1) -> None:
        self._armed[fault] += times

    def strikes(self, fault: Fault) -> bool:
        """Whether it strikes now; if so, it does once less."""
        if self._armed[fault] <= 0:
            return False
        self._armed[fault] -= 1
        return True

    def of_next_job(self) -> frozenset[Fault]:
        return frozenset(fault for fault in sorted(OF_JOBS) if self.strikes(fault))

    def left(self, among: Iterable[Fault] = tuple(Fault)) -> dict[Fault, int]:
        """What has been armed and has not struck yet: a test that armed it did not test it."""
        return {fault: self._armed[fault] for fault in among if self._armed[fault] > 0}
