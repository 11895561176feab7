"""Drives a real store and the model side by side, and compares them after every word."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.contracts.stores import Hands, new_job
from tests.core.trials import legal_end
from tests.model.world import Thing, World
from towpath.core import transitions
from towpath.core.encoding import decode
from towpath.core.errors import LeaseLost, NotRequeueable
from towpath.core.history import differences, fold
from towpath.core.ids import uuid7
from towpath.core.lifecycle import State
from towpath.core.outcomes import Failure
from towpath.core.records import Event, Job
from towpath.core.transitions import Transition
from towpath.engine.tending.rollups import roll_up
from towpath.store import journal, ledger
from towpath.store.contract import Tx

BROKEN = Failure("transient", "Broken", "broken")
TABLES = (
    "job", "event", "event_batch", "step", "signal", "lane", "queue", "lease", "clock", "count_delta", "rollup", "depth",
)  # fmt: skip
picks = st.integers(0, 1_000_000)
families = st.tuples(st.integers(1, 3), st.booleans(), st.sampled_from(["go on", "close", "defer"]), st.integers(1, 2))
# Mostly the attempt that holds the job; now and then one that was superseded.
staleness = st.sampled_from([0, 0, 0, 0, 1])


class JobMachine(RuleBasedStateMachine):
    loop: asyncio.AbstractEventLoop
    hands: Hands

    def __init__(self) -> None:
        super().__init__()
        self.world = World()

    def wait(self, work: Any) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, 30))

    @initialize(family=st.none() | families)
    def an_empty_database_or_a_family(self, family: tuple[int, bool, str, int] | None) -> None:
        """Families are where the rules meet; left to chance alone, most lives would be over before one is founded."""

        async def unit(tx: Tx) -> None:
            for table in TABLES:
                await tx.execute_sql(f"DELETE FROM {self.hands.table(table)}")

        self.wait(self.hands.store.run(unit))
        if family is not None:
            self.found_a_family(family)

    @rule(family=families)
    def found_a_family(self, family: tuple[int, bool, str, int]) -> None:
        size, awaited, then, generations = family
        job = new_job(tenant="a")
        self.wait(self.hands.store.enqueue([job]))
        self.world.add(Thing(job.id))
        parents = [self.world[job.id]]
        for generation in range(generations):
            self.claim(1000)
            for parent in parents:
                self._fan_out(parent, parent.attempt, size, awaited, generation)
                if then == "close":
                    self._close(parent, parent.attempt)
                elif then == "defer":
                    self._defer(parent, parent.attempt, "children", parent.wakes)
            parents = [child for parent in parents for child in self.world.children(parent.id)]
        self.claim(size)

    def pick(self, number: int, *states: str) -> Thing:
        """Some job in one of these states, or any if there is none: then the word has to be refused."""
        things = sorted(self.world.things.values(), key=lambda thing: thing.id)
        fitting = [thing for thing in things if thing.state in states]
        return (fitting or things)[number % len(fitting or things)]

    def apply(self, transition: Transition, expected: bool) -> None:
        [refused] = self.wait(self.hands.apply(transition))
        assert (refused is None) is expected, (transition.verb, refused)

    # -- rules

    @rule(
        tenant=st.sampled_from("ab"),
        priority=st.integers(0, 3),
        key=st.sampled_from([None, None, "k", "l"]),
        later=st.sampled_from([False, False, True]),
        cap=st.integers(1, 3),
    )
    def enqueue(self, tenant: str, priority: int, key: str | None, later: bool, cap: int) -> None:
        delay = 3600.0 if later else None
        job = new_job(tenant=tenant, priority=priority, key=key, delay=delay, max_attempts=cap)
        [made] = self.wait(self.hands.store.enqueue([job]))
        holder = self.world.holder(tenant, key)
        assert made.created is (holder is None)
        assert made.id == (holder.id if holder else job.id)
        if holder is None:
            self.world.add(Thing(job.id, tenant, priority, key, cap, scheduled=later))

    @rule(count=st.integers(2, 4), keys=st.lists(st.sampled_from([None, "k", "l"]), min_size=4, max_size=4))
    def enqueue_many(self, count: int, keys: list[str | None]) -> None:
        jobs = [new_job(tenant="a", key=key) for key in keys[:count]]
        for job, made in zip(jobs, self.wait(self.hands.store.enqueue(jobs)), strict=True):
            holder = self.world.holder("a", job.key)
            assert made.id == (holder.id if holder else job.id)
            if holder is None:
                self.world.add(Thing(job.id, "a", 1, job.key))

    @rule(limit=st.integers(1, 4))
    def claim(self, limit: int) -> None:
        ready = {thing.id: thing.priority for thing in self.world.ready()}
        claimed = self.wait(self.hands.claim(limit, lease=3600.0))
        assert len(claimed) == min(limit, len(ready))
        assert [job.priority for job in claimed] == sorted(ready.values())[: len(claimed)]
        self.world.claim(job.id for job in claimed)
        for job in claimed:
            assert job.attempt == self.world[job.id].attempt

    @precondition(lambda self: self.world.things)
    @rule(number=picks, stale=staleness, solo=st.booleans())
    def succeed(self, number: int, stale: int, solo: bool) -> None:
        thing = self.pick(number, "running", "waiting")
        attempt = thing.attempt - stale
        [refused] = self.wait(self.hands.settle(transitions.succeed(thing.id, attempt, '"r"', solo=solo)))
        assert (refused is None) is self.world.succeed(thing.id, attempt), refused

    @precondition(lambda self: self.world.things)
    @rule(number=picks, stale=staleness, verb=st.sampled_from(["finish_partial", "fail", "release"]))
    def end_or_release(self, number: int, stale: int, verb: str) -> None:
        thing = self.pick(number, "running", "waiting")
        attempt = thing.attempt - stale
        asked = {
            "finish_partial": transitions.finish_partial(thing.id, attempt, "1", "w"),
            "fail": transitions.fail(thing.id, attempt, BROKEN),
            "release": transitions.release(thing.id, attempt),
        }[verb]
        self.apply(asked, getattr(self.world, verb)(thing.id, attempt))

    @precondition(lambda self: self.world.things)
    @rule(number=picks, stale=staleness, delay=st.sampled_from([0.0, 60.0]), later=st.booleans())
    def retry(self, number: int, stale: int, delay: float, later: bool) -> None:
        thing = self.pick(number, "running", "waiting")
        attempt = thing.attempt - stale
        if later:
            asked = transitions.retry_later(thing.id, attempt, "retry_later", "busy", delay)
            self.apply(asked, self.world.retry_later(thing.id, attempt, delay))
        else:
            self.apply(transitions.retry(thing.id, attempt, BROKEN, delay), self.world.retry(thing.id, attempt, delay))

    @precondition(lambda self: len(self.world.things) > 1)
    @rule(numbers=st.lists(picks, min_size=2, max_size=4), fail=st.booleans())
    def settle_together(self, numbers: list[int], fail: bool) -> None:
        things = [self.pick(number, "running") for number in numbers]
        asked, expected = [], []
        for index, thing in enumerate(things):
            ended = transitions.succeed(thing.id, thing.attempt, "1", solo=True)
            asked.append(transitions.fail(thing.id, thing.attempt, BROKEN) if fail and index == 0 else ended)
        verdicts = self.wait(self.hands.settle(*asked))
        for one in asked:
            word = self.world.fail if one.verb == "fail" else self.world.succeed
            expected.append(word(one.job_id, one.attempt))
        assert [verdict is None for verdict in verdicts] == expected, verdicts

    @precondition(lambda self: self.world.things)
    @rule(number=picks, stale=staleness, reason=st.sampled_from(["sleep", "signal", "provider"]), missed=st.integers(0, 1))
    def defer(self, number: int, stale: int, reason: str, missed: int) -> None:
        thing = self.pick(number, "running")
        self._defer(thing, thing.attempt - stale, reason, thing.wakes - missed)

    def _defer(self, thing: Thing, attempt: int, reason: str, seen: int) -> None:
        asked = transitions.defer(thing.id, attempt, reason, wakes_seen=seen, deadline=None, max_wait=3600)
        self.apply(asked, self.world.defer(thing.id, attempt, reason, seen))

    @precondition(lambda self: self.world.things)
    @rule(number=picks, stale=staleness)
    def close_with_children(self, number: int, stale: int) -> None:
        thing = self.pick(number, "running")
        self._close(thing, thing.attempt - stale)

    def _close(self, thing: Thing, attempt: int) -> None:
        self.apply(transitions.close_with_children(thing.id, attempt, '"r"', 3600), self.world.close(thing.id, attempt))

    @precondition(lambda self: self.world.things)
    @rule(number=picks, stale=staleness, size=st.integers(0, 3), awaited=st.booleans(), which=st.integers(0, 2))
    def fan_out(self, number: int, stale: int, size: int, awaited: bool, which: int) -> None:
        thing = self.pick(number, "running")
        self._fan_out(thing, thing.attempt - stale, size, awaited, which)

    def _fan_out(self, thing: Thing, attempt: int, size: int, awaited: bool, which: int) -> None:
        kind = "gather" if awaited else "spawn"
        group = f"{kind} {which}"  # the same again finds its record, unless that was dropped
        kids = [new_job(tenant=thing.tenant, parent_id=thing.id, root_id=thing.id, child_group=group) for _ in range(size)]
        things = [Thing(kid.id) for kid in kids]
        expected = self.world.fan_out(thing.id, attempt, things, group, awaited=awaited)
        try:
            self.wait(
                self.hands.store.run(
                    lambda tx: journal.fan_out(tx, thing.id, attempt, kind=kind, name=group, children=kids, awaited=awaited)
                )
            )
        except LeaseLost:
            assert not expected
        else:
            assert expected

    @precondition(lambda self: self.world.things)
    @rule(number=picks, stale=staleness, current=st.integers(0, 4), total=st.sampled_from([None, 1, 2, 4]))
    def progress(self, number: int, stale: int, current: int, total: int | None) -> None:
        thing = self.pick(number, "running")
        attempt = thing.attempt - stale
        note = journal.Note(thing.id, attempt, name="job.progress", progress=(float(current), total and float(total)))
        [kept] = self.wait(self.hands.store.run(lambda tx: journal.record(tx, [note])))
        assert kept is (thing.state == "running" and stale == 0)

    @precondition(lambda self: self.world.things)
    @rule(number=picks)
    def signal(self, number: int) -> None:
        thing = self.pick(number, "waiting", "running")
        sending = self.hands.store.run(lambda tx: journal.send_signal(tx, thing.id, "go", "null", uuid7()))
        expected = self.world.signal(thing.id)
        try:
            self.wait(sending)
        except NotRequeueable:
            assert not expected
        else:
            assert expected

    @precondition(lambda self: self.world.things)
    @rule(number=picks)
    def resume(self, number: int) -> None:
        thing = self.pick(number, "waiting")
        self.apply(transitions.resume(thing.id, "asked"), self.world.resume(thing.id))

    @precondition(lambda self: self.world.things)
    @rule(number=picks)
    def poll(self, number: int) -> None:
        thing = self.pick(number, "waiting")
        self.apply(transitions.poll(thing.id, "poller", 3600.0), self.world.poll(thing.id))

    @precondition(lambda self: self.world.things)
    @rule(number=picks)
    def cancel(self, number: int) -> None:
        thing = self.pick(number, "queued", "running", "waiting")
        self.apply(transitions.cancel(thing.id), self.world.cancel(thing.id))

    @precondition(lambda self: self.world.things)
    @rule(number=picks, edited=st.booleans(), keep=st.booleans())
    def requeue(self, number: int, edited: bool, keep: bool) -> None:
        thing = self.pick(number, "failed", "partial", "cancelled")
        asked = transitions.requeue(thing.id, payload_json='"new"' if edited else None, keep_steps=keep)
        self.apply(asked, self.world.requeue(thing.id, edited=edited, keep_steps=keep))

    @precondition(lambda self: self.world.things)
    @rule(number=picks, stale=staleness)
    def handler_ended(self, number: int, stale: int) -> None:
        leased = sorted((t for t in self.world.things.values() if t.leased and t.state != "running"), key=lambda t: t.id)
        thing = leased[number % len(leased)] if leased else self.pick(number, "running")
        attempt = thing.attempt - stale
        self.apply(transitions.handler_ended(thing.id, attempt), self.world.handler_ended(thing.id, attempt))

    @precondition(lambda self: any(thing.leased for thing in self.world.things.values()))
    @rule(number=picks, early=st.booleans())
    def a_lease_runs_out_and_the_janitor_comes(self, number: int, early: bool) -> None:
        leased = sorted((thing for thing in self.world.things.values() if thing.leased), key=lambda thing: thing.id)
        thing = leased[number % len(leased)]
        if not early:
            self.wait(self.hands.run_out(thing.id))
            thing.silent = True
        found = self.wait(self.hands.store.read(_expired_leases))
        assert {job_id for job_id, _, _ in found} == {t.id for t in self.world.things.values() if t.leased and t.silent}
        for job_id, attempt, state in found:
            if state == "running":
                self.apply(transitions.rescue(job_id, attempt), self.world.rescue(job_id, attempt))
            else:
                self.apply(transitions.handler_ended(job_id, attempt), self.world.handler_ended(job_id, attempt))
        if early and thing.state == "running":
            self.apply(transitions.rescue(thing.id, thing.attempt), self.world.rescue(thing.id, thing.attempt))

    @precondition(lambda self: any(thing.state == "waiting" for thing in self.world.things.values()))
    @rule(number=picks, stale=staleness, early=st.booleans())
    def a_wait_runs_out(self, number: int, stale: int, early: bool) -> None:
        thing = self.pick(number, "waiting")
        if not early:
            self.wait(self.hands.shift("deadline", -30 * 86400.0, thing.id))
            thing.overdue = True
        attempt = thing.attempt - stale
        self.apply(transitions.expire(thing.id, attempt), self.world.expire(thing.id, attempt))

    @precondition(lambda self: any(thing.scheduled for thing in self.world.things.values()))
    @rule()
    def scheduled_jobs_come_due(self) -> None:
        due = [thing.id for thing in self.world.things.values() if thing.scheduled]
        self.wait(self.hands.shift("run_at", -7200.0, *due))
        assert self.wait(self.hands.store.run(lambda tx: ledger.promote_due(tx, 1000))) == len(due)
        self.world.come_due(due)

    @rule()
    def compact_the_counts(self) -> None:
        self.wait(roll_up(self.hands.store))

    # -- what must hold after every word

    @invariant()
    def rows_events_and_counts_agree_with_the_model(self) -> None:
        jobs, events, steps, depths = self.wait(self.hands.store.read(self._look))
        assert set(jobs) == set(self.world.things)
        assert steps == {thing.id: thing.recorded for thing in self.world.things.values() if thing.recorded}
        for job_id, job in jobs.items():
            self._compare(job, self.world[job_id])
            history = events[job_id]
            assert [event.seq for event in history] == list(range(1, job.seq + 1))
            assert history[0].name == "job.created"
            assert legal_end(State.QUEUED, history[1:]) is job.state
            assert differences(job, fold(history)) == []
        self._compare_keys(jobs)
        self.wait(self.hands.assert_sound())
        assert depths == Counter(job.state.value for job in jobs.values() if job.live)

    def _compare(self, job: Job, thing: Thing) -> None:
        seen = (job.state.value, job.attempt, job.failures, job.wakes, job.ready, job.leased, job.closing, job.key)
        told = (thing.state, thing.attempt, thing.failures, thing.wakes, thing.ready, thing.leased, thing.closing, thing.key)
        assert seen == told, (seen, told)
        assert (job.parent_id, job.child_group) == (thing.parent, thing.group)
        counted = (job.children_total, job.children_ok, job.children_partial, job.children_bad)
        assert counted == self.world.counts(job.id)
        awaited = [child for child in self.world.children(job.id) if child.live and child.group == thing.awaits]
        assert (job.await_group, job.await_open) == (thing.awaits, len(awaited) if thing.awaits else 0)
        assert job.leased or job.lease_until is None
        assert (job.finished_at is not None) is job.ended
        assert (job.error_json is not None) is (job.error_kind is not None)
        if job.state in (State.SUCCEEDED, State.PARTIAL):
            assert job.error_json is None
        if job.state is State.FAILED:
            assert job.error_json is not None
        if job.ended:
            assert job.children_open == 0
        if job.state is State.WAITING:
            assert job.deadline is not None
            assert job.reason is not None
        if job.state is State.QUEUED and not job.ready:
            assert job.reason is not None

    def _compare_keys(self, jobs: dict[str, Job]) -> None:
        held = Counter((job.tenant, job.key) for job in jobs.values() if job.live and job.key is not None)
        assert all(count == 1 for count in held.values()), held

    async def _look(self, tx: Tx) -> tuple[dict[str, Job], dict[str, list[Event]], dict[str, list[str]], Counter[str]]:
        table = self.hands.table
        ids = [str(row["id"]) for row in await tx.fetch_sql(f"SELECT id FROM {table('job')}")]
        jobs = {job.id: job for job in await tx.jobs("jobs_by_id", ids=ids)}
        events: dict[str, list[Event]] = {job_id: [] for job_id in ids}
        for row in await tx.fetch_sql(f"SELECT job_id, seq, attempt, name, fields FROM {table('job_event')} ORDER BY seq"):
            fields = decode(row["fields"])
            events[str(row["job_id"])].append(
                Event(str(row["job_id"]), row["seq"], row["attempt"], row["name"], fields=fields)
            )
        steps: dict[str, list[str]] = {}
        for row in await tx.fetch_sql(f"SELECT job_id, name FROM {table('step')} ORDER BY ord"):
            steps.setdefault(str(row["job_id"]), []).append(row["name"])
        depths: Counter[str] = Counter()
        for source in ("count_delta", "depth"):
            columns = ", ".join(f"coalesce(sum({state}), 0) AS {state}" for state in ("queued", "running", "waiting"))
            [row] = await tx.fetch_sql(f"SELECT {columns} FROM {table(source)}")
            depths.update({state: int(row[state]) for state in ("queued", "running", "waiting")})
        return jobs, events, steps, +depths


async def _expired_leases(tx: Tx) -> list[tuple[str, int, str]]:
    first = "00000000-0000-0000-0000-000000000000"
    rows = await tx.fetch("ending_leases", soon=tx.now, beyond=tx.now + timedelta(days=365), after=first, limit=1000)
    return [(str(row["id"]), row["attempt"], row["state"]) for row in rows]
