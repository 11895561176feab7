"""Seeded bugs: the engine with one promise taken out, to show that the checker would notice.

Each replaces one thing in this process, and is only ever planted in a process started for it. They are the mistakes
that other engines have really made: a missing fence, an event beside its transaction, a rescuer that acts on an old
picture.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from towpath import App
from towpath.core import endings, lifecycle, verbs
from towpath.core.lifecycle import State
from towpath.engine import schedules
from towpath.engine.running import context, execution, steps
from towpath.engine.tending import rescuing
from towpath.store import journal, ledger, sql
from towpath.store.sqlite import hot


def no_fence() -> None:
    """Settles and notes of a superseded attempt are taken like any other."""
    for name, verb in lifecycle.TABLE.items():
        lifecycle.TABLE[name] = replace(verb, fenced=False)
    journal._holds = lambda job, attempt: job is not None and job.state is State.RUNNING


def lost_event() -> None:
    """The state is written, the event that tells of it is not."""
    write = ledger.write

    async def without_retries(tx: Any, working: Any) -> None:
        working.events = [event for event in working.events if event.name != "job.retry_scheduled"]
        await write(tx, working)

    ledger.write = without_retries


def double_count() -> None:
    """A child that ends is counted twice by its parent."""
    count = endings.count

    def twice(parent: Any, child: Any, change: int) -> None:
        count(parent, child, change)
        if parent.children_open > 0:
            count(parent, child, change)

    endings.count = twice


def hasty_rescue() -> None:
    """The rescuer takes every leased job, whether its lease has run out or not."""
    rescue = verbs._VERBS["rescue"]

    def regardless(working: Any, job: Any, transition: Any) -> str | None:
        job.lease_until = working.now
        return rescue(working, job, transition)

    verbs._VERBS["rescue"] = regardless

    async def all_leases(tx: Any, after: str, **_: Any) -> Any:
        table = "towpath_job" if tx.dialect == "sqlite" else "towpath.job"
        found = await tx.fetch_sql(f"SELECT id, attempt, state FROM {table} WHERE leased ORDER BY id")
        return rescuing.Page(tx.now, tx.now, [row for row in found if str(row["id"]) > after])

    rescuing.read_page = all_leases
    rescuing.Rescuer._may_go = lambda self, row, page: True


def forgetful_steps() -> None:
    """Steps are recorded, and run again all the same."""
    use = steps.Memory.use

    def never_done(self: Any, name: str, kind: str) -> Any:
        found = use(self, name, kind)
        return None if kind == "step" else found

    steps.Memory.use = never_done


def no_lane_cap() -> None:
    """A capped lane lets everybody through."""

    async def wide_open(tx: Any, queue: str, lane: str) -> int:
        return await ledger._promote(tx, await tx.jobs("parked_jobs", queue=queue, lane=lane, limit=1000))

    ledger.gate = wide_open


def no_queue_cap() -> None:
    """So does a capped queue."""

    async def wanted(tx: Any, queue: str, number: int) -> int:
        return number

    ledger.queue_room = wanted


def cancel_overwritten() -> None:
    """A handler that finishes late writes its success over a cancel."""
    succeed = lifecycle.TABLE["succeed"]
    lifecycle.TABLE["succeed"] = replace(succeed, sources=succeed.sources | {State.CANCELLED})


def ended_twice() -> None:
    """A success is followed by a second ending."""
    succeed = verbs._VERBS["succeed"]

    def and_fail(working: Any, job: Any, transition: Any) -> str | None:
        refused = succeed(working, job, transition)
        if refused is None:
            working.note(job, "job.failed", fields={"failures": 0})
        return refused

    verbs._VERBS["succeed"] = and_fail


def impatient_retry() -> None:
    """The backoff is announced and not waited for."""
    retry = verbs._VERBS["retry"]

    def at_once(working: Any, job: Any, transition: Any) -> str | None:
        refused = retry(working, job, transition)
        if refused is None:
            job.run_at = None
            working.admit(job, fresh=False)
        return refused

    verbs._VERBS["retry"] = at_once


def no_cap_on_failures() -> None:
    """A job that fails is tried again however often it has failed."""
    execution._policy = lambda job, operation: replace(operation.retry, limit=1000)


def early_start() -> None:
    """Scheduled jobs are made ready as soon as the janitor sees them."""
    _rewrite("due_jobs", "run_at <= :now", "(run_at <= :now OR run_at > :now)")


def double_fire() -> None:
    """A schedule that is due fires twice for one slot."""
    fire = schedules._fire

    async def twice(tx: Any, row: Any, *slot: Any) -> None:
        await fire(tx, row, *slot)
        await fire(tx, {**dict(row), "operation": "leaf"}, *slot)

    schedules._fire = twice


def backward_progress() -> None:
    """Progress is counted down instead of up."""
    take = context.Context._take_progress

    def backwards(self: Any, message: str | None) -> Any:
        note = take(self, message)
        if note is not None and note.progress is not None:
            current, total = note.progress
            note.progress = (total - current, total)
        return note

    context.Context._take_progress = backwards


def first_come() -> None:
    """Jobs are claimed in the order in which they came, whoever's they are."""
    _rewrite("first_in_line", "ORDER BY pass, id", "ORDER BY id")
    hot.PROCEDURES = hot.PROCEDURES.replace("ORDER BY pass, id", "ORDER BY id")


def lost_enqueue() -> None:
    """Some enqueues are acknowledged before they are safe, and lost."""
    enqueue = App.enqueue_many

    async def careless(self: Any, jobs: Any) -> Any:
        made = await enqueue(self, jobs)
        table = "towpath_job" if self.url.startswith("sqlite:") else "towpath.job"
        async with self.transaction() as tx:
            await tx.execute(f"DELETE FROM {table} WHERE CAST(id AS text) = '{made[0].id}'")
        return made

    App.enqueue_many = careless


def double_enqueue() -> None:
    """An enqueue whose answer was lost is sent again under a new id."""
    enqueue = App.enqueue_many

    async def insistent(self: Any, jobs: Any) -> Any:
        wanted = list(jobs)
        await enqueue(self, wanted)
        return await enqueue(self, wanted)

    App.enqueue_many = insistent


def _rewrite(name: str, old: str, new: str) -> None:
    """Changes the text of a named query, or of a fragment, before it is compiled for its database."""
    compile_query = sql.compile_query

    def changed(query: str, source: str, dialect: str, **options: Any) -> Any:
        parts = options.get("parts") or {}
        if name in parts:
            options["parts"] = parts | {name: parts[name].replace(old, new)}
        return compile_query(query, source.replace(old, new) if query == name else source, dialect, **options)

    sql.compile_query = changed


class Bug(NamedTuple):
    plant: Callable[[], None]
    invariant: str
    told: str  # by which words of the checker


BUGS: dict[str, Bug] = {
    "no-fence": Bug(no_fence, "I5", "its result is attempt 1's, attempt 2 held it"),
    "lost-event": Bug(lost_event, "I4", "one is missing"),
    "double-count": Bug(double_count, "I6", "its children say"),
    "hasty-rescue": Bug(hasty_rescue, "I2", "was rescued"),
    "forgetful-steps": Bug(forgetful_steps, "I9", "ran again in attempt 2"),
    "no-lane-cap": Bug(no_lane_cap, "I12", "at once in lane narrow"),
    "no-queue-cap": Bug(no_queue_cap, "I12", "at once in queue strict"),
    "cancel-overwritten": Bug(cancel_overwritten, "I7", "was cancelled and succeeded"),
    "ended-twice": Bug(ended_twice, "I3", "job.failed came after job.succeeded"),
    "impatient-retry": Bug(impatient_retry, "I11", "before its backoff was over"),
    "no-cap-on-failures": Bug(no_cap_on_failures, "I11", "its cap is 3"),
    "early-start": Bug(early_start, "I13", "before its run_at"),
    "double-fire": Bug(double_fire, "I13", "fired twice"),
    "backward-progress": Bug(backward_progress, "I8", "progress went back"),
    "first-come": Bug(first_come, "I14", "waited for"),
    "lost-enqueue": Bug(lost_enqueue, "I1", "does not exist"),
    "double-enqueue": Bug(double_enqueue, "I1", "is a second job"),
}


def plant(name: str) -> None:
    BUGS[name].plant()
