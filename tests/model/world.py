"""Jobs as a small model without a database, an event or a counter: what must be true after each word.

It is written from the rules, not from the engine: a parent's counts are looked up in its children each time, and nothing
is remembered that could be derived.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

LIVE = ("queued", "running", "waiting")
TIMERS = ("sleep", "signal")
RETRY_LATER_CAP = 1000


@dataclass
class Thing:
    """One job of the model."""

    id: str
    tenant: str = "a"
    priority: int = 1
    key: str | None = None
    max_attempts: int = 3
    parent: str | None = None
    group: str | None = None

    state: str = "queued"
    attempt: int = 0
    failures: int = 0
    wakes: int = 0
    scheduled: bool = False
    leased: bool = False
    silent: bool = False  # its lease has run out
    reason: str | None = None  # what it waits for
    overdue: bool = False  # its wait has run out
    closing: bool = False
    awaits: str | None = None
    recorded: list[str] = field(default_factory=list)  # its fan-outs, in the order of their first encounter

    @property
    def live(self) -> bool:
        return self.state in LIVE

    @property
    def ready(self) -> bool:
        return self.state == "queued" and not self.scheduled and not self.leased


class World:
    def __init__(self) -> None:
        self.things: dict[str, Thing] = {}

    def __getitem__(self, job_id: str) -> Thing:
        return self.things[job_id]

    # -- looking

    def children(self, job_id: str) -> list[Thing]:
        return [thing for thing in self.things.values() if thing.parent == job_id]

    def ancestors(self, job_id: str) -> list[Thing]:
        found, above = [], self[job_id].parent
        while above is not None:
            found.append(self[above])
            above = self[above].parent
        return found

    def holder(self, tenant: str, key: str | None) -> Thing | None:
        held = [t for t in self.things.values() if key is not None and t.live and (t.tenant, t.key) == (tenant, key)]
        return held[0] if held else None

    def ready(self) -> list[Thing]:
        return [thing for thing in self.things.values() if thing.ready]

    def counts(self, job_id: str) -> tuple[int, int, int, int]:
        states = [child.state for child in self.children(job_id)]
        bad = states.count("failed") + states.count("cancelled")
        return len(states), states.count("succeeded"), states.count("partial"), bad

    # -- words: each answers whether it happened

    def add(self, thing: Thing) -> None:
        self.things[thing.id] = thing

    def claim(self, ids: Iterable[str]) -> None:
        for job_id in ids:
            thing = self[job_id]
            assert thing.ready
            thing.state, thing.leased, thing.silent = "running", True, False
            thing.attempt += 1

    def _fenced(self, job_id: str, attempt: int, states: tuple[str, ...]) -> Thing | None:
        thing = self[job_id]
        return thing if thing.state in states and thing.attempt == attempt else None

    def succeed(self, job_id: str, attempt: int) -> bool:
        thing = self._fenced(job_id, attempt, ("running", "waiting"))
        if thing is None:
            return False
        if any(child.live for child in self.children(job_id)):
            self._wait(thing, "children", closing=True)
        else:
            self._end(thing, "succeeded")
        return True

    def finish_partial(self, job_id: str, attempt: int) -> bool:
        return self._finish(job_id, attempt, "partial", 0)

    def fail(self, job_id: str, attempt: int) -> bool:
        return self._finish(job_id, attempt, "failed", 1)

    def _finish(self, job_id: str, attempt: int, state: str, failures: int) -> bool:
        thing = self._fenced(job_id, attempt, ("running", "waiting"))
        if thing is None:
            return False
        thing.failures += failures
        self._end(thing, state)
        self._cancel_below(thing)
        return True

    def retry(self, job_id: str, attempt: int, delay: float) -> bool:
        thing = self._fenced(job_id, attempt, ("running", "waiting"))
        return thing is not None and self._back(thing, failures=1, delay=delay)

    def retry_later(self, job_id: str, attempt: int, delay: float) -> bool:
        thing = self._fenced(job_id, attempt, ("running",))
        return thing is not None and self._back(thing, delay=delay)

    def release(self, job_id: str, attempt: int) -> bool:
        thing = self._fenced(job_id, attempt, ("running",))
        return thing is not None and self._back(thing)

    def rescue(self, job_id: str, attempt: int) -> bool:
        thing = self._fenced(job_id, attempt, ("running",))
        if thing is None or not thing.silent:
            return False
        thing.failures += 1
        if thing.failures >= thing.max_attempts:
            self._end(thing, "failed")
            self._cancel_below(thing)
            return True
        return self._back(thing, delay=2.0 ** (thing.failures - 1) - 1)

    def defer(self, job_id: str, attempt: int, reason: str, wakes_seen: int) -> bool:
        thing = self._fenced(job_id, attempt, ("running",))
        if thing is None:
            return False
        self._wait(thing, reason)
        if thing.wakes > wakes_seen:
            self._back(thing)
        return True

    def close(self, job_id: str, attempt: int) -> bool:
        thing = self._fenced(job_id, attempt, ("running",))
        if thing is None:
            return False
        self._wait(thing, "children", closing=True)
        self._close_if_over(thing)
        return True

    def poll(self, job_id: str) -> bool:
        thing = self[job_id]
        if thing.state != "waiting" or (thing.leased and not thing.silent):
            return False
        thing.attempt += 1
        thing.leased, thing.silent = True, False
        return True

    def resume(self, job_id: str) -> bool:
        thing = self[job_id]
        if thing.state != "waiting":
            return False
        thing.wakes += 1
        return self._back(thing)

    def signal(self, job_id: str) -> bool:
        if not self[job_id].live:
            return False
        self._wake(self[job_id])
        return True

    def expire(self, job_id: str, attempt: int) -> bool:
        thing = self._fenced(job_id, attempt, ("waiting",))
        if thing is None or not thing.overdue:
            return False
        if thing.reason in TIMERS:
            thing.wakes += 1
            return self._back(thing)
        thing.failures += 1
        self._end(thing, "failed")
        self._cancel_below(thing)
        return True

    def cancel(self, job_id: str) -> bool:
        thing = self[job_id]
        if not thing.live:
            return False
        self._end(thing, "cancelled")
        self._cancel_below(thing)
        return True

    def handler_ended(self, job_id: str, attempt: int) -> bool:
        thing = self[job_id]
        if not thing.leased or thing.attempt != attempt or thing.state == "running":
            return False
        thing.leased = thing.silent = False
        return True

    def requeue(self, job_id: str, *, edited: bool = False, keep_steps: bool = False) -> bool:
        thing = self[job_id]
        above = self.ancestors(job_id)
        if thing.state not in ("failed", "partial", "cancelled") or any(a.state == "cancelled" for a in above):
            return False
        if self.holder(thing.tenant, thing.key) is not None:
            return False
        self._reopen_above(thing)
        self._start_over(thing, forget=edited and not keep_steps)
        return True

    def fan_out(self, job_id: str, attempt: int, children: list[Thing], group: str, *, awaited: bool) -> bool:
        thing = self._fenced(job_id, attempt, ("running",))
        if thing is None:
            return False
        if group in thing.recorded:
            return True
        for former in self.children(job_id):
            if former.group == group:
                former.parent = former.group = None
        thing.recorded.append(group)
        for child in children:
            child.parent, child.group, child.tenant = job_id, group, thing.tenant
            self.add(child)
        if awaited:
            thing.awaits = group
        return True

    def come_due(self, ids: Iterable[str]) -> None:
        for job_id in ids:
            self[job_id].scheduled = False

    # -- what follows from them

    def _wait(self, thing: Thing, reason: str, *, closing: bool = False) -> None:
        thing.state, thing.reason, thing.overdue = "waiting", reason, False
        thing.leased = thing.silent = False
        thing.closing = thing.closing or closing

    def _back(self, thing: Thing, *, failures: int = 0, delay: float = 0.0) -> bool:
        thing.failures += failures
        thing.state, thing.scheduled = "queued", delay > 0
        thing.leased = thing.silent = thing.closing = False
        return True

    def _wake(self, thing: Thing) -> None:
        thing.wakes += 1
        if thing.state == "waiting" and not thing.closing:
            self._back(thing)

    def _end(self, thing: Thing, state: str) -> None:
        thing.state, thing.scheduled = state, False
        if state != "cancelled":
            thing.leased = thing.silent = False
        if thing.parent is not None:
            self._child_ended(self[thing.parent], thing)

    def _child_ended(self, parent: Thing, child: Thing) -> None:
        last_awaited = parent.awaits == child.group and not any(
            other.live for other in self.children(parent.id) if other.group == child.group
        )
        if last_awaited and not parent.closing:
            self._wake(parent)
        self._close_if_over(parent)

    def _close_if_over(self, parent: Thing) -> None:
        if parent.state != "waiting" or not parent.closing or any(child.live for child in self.children(parent.id)):
            return
        total, ok, partial, _ = self.counts(parent.id)
        self._end(parent, "succeeded" if ok == total else "partial" if ok + partial else "failed")

    def _cancel_below(self, thing: Thing) -> None:
        for child in self.children(thing.id):
            if child.live:
                self._end(child, "cancelled")
                self._cancel_below(child)

    def _reopen_above(self, thing: Thing) -> None:
        if thing.parent is None or self[thing.parent].live:
            return
        parent = self[thing.parent]
        self._reopen_above(parent)
        if not parent.closing:
            parent.awaits = thing.group
            if thing.group in parent.recorded:
                del parent.recorded[parent.recorded.index(thing.group) + 1 :]
        self._reopen(parent)

    def _reopen(self, thing: Thing) -> None:
        thing.failures = 0
        if self.holder(thing.tenant, thing.key) is not None:
            thing.key = None  # it comes back for its child's sake, not by its key
        self._wait(thing, "children")

    def _start_over(self, thing: Thing, *, forget: bool = False) -> None:
        again = [child for child in self.children(thing.id) if child.state != "succeeded"]
        if forget:
            for child in self.children(thing.id):
                child.parent = child.group = None
            again, thing.awaits, thing.closing = [], None, False
            thing.recorded.clear()
        for child in again:
            self._start_over(child)
        if again and thing.closing and thing.state in ("succeeded", "partial", "failed"):
            self._reopen(thing)
            return
        thing.failures = 0
        thing.state, thing.scheduled, thing.closing = "queued", False, False
