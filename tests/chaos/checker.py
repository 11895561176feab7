"""The history checker: judges a finished run by the invariants of the engine, and names the ones that broke.

A run is finished when it is quiescent: faults have stopped, healthy workers have had their time, nothing is live. Each
invariant is a function in `invariants/` that reads a History and yields Violations. They share nothing, so one broken
promise does not hide another.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.chaos.history import History, load
from tests.chaos.invariants import families, fences, leases, limits, paths, promises, timing
from tests.chaos.violation import Violation

Check = Callable[[History], Iterator[Violation]]

CHECKS: dict[str, tuple[Check, ...]] = {
    "I1": (promises.acknowledged_work_is_kept, promises.nothing_is_doubled),
    "I2": (leases.attempts_grow, leases.one_handler_per_lease, leases.no_rescue_before_expiry),
    "I3": (paths.endings_are_final,),
    "I4": (paths.events_are_a_legal_path, paths.the_row_is_its_history),
    "I5": (fences.the_latest_claim_finishes, fences.only_the_running_attempt_writes),
    "I6": (families.children_are_counted_once, families.parents_end_with_their_children),
    "I7": (paths.cancelled_is_not_overwritten,),
    "I8": (paths.progress_goes_forward,),
    "I9": (fences.recorded_steps_stay_recorded,),
    "I11": (limits.failures_stay_within_the_cap, timing.backoff_is_respected),
    "I12": (limits.lanes_keep_their_slots, limits.lanes_keep_their_open_roots, limits.queues_keep_their_slots),
    "I13": (timing.nothing_starts_early, timing.schedules_fire_once),
    "I14": (limits.tenants_share_fairly,),
    "I18": (leases.no_lease_is_left,),
}


def check(history: History) -> list[Violation]:
    return [violation for checks in CHECKS.values() for one in checks for violation in one(history)]


def judge(url: str, log: Path | str, **rules: Any) -> History:
    """Raises with every violation spelt out; answers the history, for tests that want to look further."""
    history = load(url, log, **rules)
    violations = check(history)
    if violations:
        raise BrokenPromise(violations)
    return history


class BrokenPromise(AssertionError):
    def __init__(self, violations: list[Violation]) -> None:
        shown = "\n".join(map(str, violations[:20]))
        more = f"\n… and {len(violations) - 20} more" if len(violations) > 20 else ""
        super().__init__(f"{len(violations)} violations\n{shown}{more}")
        self.violations = violations
