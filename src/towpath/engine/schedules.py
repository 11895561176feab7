"""Cron schedules that fire once, however many processes watch them.

Whoever locks a due schedule's row first fires it and moves its next time on, in one transaction with the job. After a
downtime a schedule fires once, for the latest time it missed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from towpath.core.errors import ConfigurationError, NameTaken, ScheduleNotFound
from towpath.core.failpoints import reach
from towpath.core.ids import uuid7
from towpath.core.records import DEFAULT_PRIORITY, DEFAULT_TENANT, NewJob, Schedule
from towpath.engine.registry import check_label, check_name
from towpath.engine.services import Services, check_priority
from towpath.store.also import Also, together
from towpath.store.contract import Row, Tx

CODE, PEOPLE = "code", "people"


@dataclass(frozen=True, slots=True)
class Planned:
    """A schedule as the app declares it, or as somebody wants it."""

    name: str
    cron: str
    operation: str
    payload: Any
    tenant: str
    timezone: str
    priority: int
    queue: str | None = None


def next_after(cron: str, timezone: str, moment: datetime) -> datetime:
    local = moment.astimezone(ZoneInfo(timezone))
    return next(CronSim(cron, local)).astimezone(UTC)


def latest_until(cron: str, timezone: str, moment: datetime) -> datetime:
    """The last time at or before `moment`, found backwards: a downtime of a year is not walked through minute by minute."""
    local = (moment + timedelta(microseconds=1)).astimezone(ZoneInfo(timezone))
    return next(CronSim(cron, local, reverse=True)).astimezone(UTC)


def check(planned: Planned) -> Planned:
    try:
        next_after(planned.cron, planned.timezone, datetime.now(UTC))
    except CronSimError as error:
        raise ConfigurationError(
            f"schedule {planned.name!r} has no valid cron expression: {planned.cron!r} ({error}); "
            f"it takes five fields, e.g. '0 3 * * *' for every night at three"
        ) from None
    except ZoneInfoNotFoundError:
        raise ConfigurationError(f"schedule {planned.name!r} names an unknown time zone: {planned.timezone!r}") from None
    except StopIteration:
        raise ConfigurationError(f"schedule {planned.name!r} would never fire: {planned.cron!r}") from None
    return planned


async def put(tx: Tx, services: Services, planned: Planned, origin: str) -> None:
    """Writes a schedule. One whose cron has not changed keeps its next time."""
    job = services.new_job(
        planned.operation, planned.payload, tenant=planned.tenant, priority=planned.priority, queue=planned.queue
    )  # fmt: skip
    await tx.execute(
        "put_schedule", name=planned.name, cron=planned.cron, timezone=planned.timezone, operation=planned.operation,
        queue=job.queue, payload=job.payload_json, tenant=planned.tenant, priority=planned.priority,
        max_attempts=job.max_attempts, next_fire=next_after(planned.cron, planned.timezone, tx.now), origin=origin,
        now=tx.now,
    )  # fmt: skip


async def fire_due(services: Services) -> int:
    """Fires every schedule that is due; answers how many. One that cannot be read here is told after the others."""
    if not await services.store.read(lambda tx: tx.fetch("schedule_is_due", now=tx.now, own=services.declared)):
        return 0
    await reach("schedule.seen")

    async def unit(tx: Tx) -> tuple[int, list[str]]:
        due, unread = await tx.fetch("due_schedules", now=tx.now, own=services.declared), []
        await reach("schedule.locked")
        for row in due:
            try:
                slot = _slot(row, tx.now)
            except Exception as error:  # a time zone this host does not know, a cron expression of a newer release
                unread.append(f"schedule {row['name']!r} is due and cannot be read here: {error}")
            else:
                await _fire(tx, row, *slot)
        return len(due) - len(unread), unread

    fired, unread = await services.store.run(unit)
    if unread:
        raise ConfigurationError("; ".join(unread))
    return fired


def _slot(row: Row, now: datetime) -> tuple[datetime, datetime]:
    """The time it fires for, and the next one."""
    latest = latest_until(row["cron"], row["timezone"], now)
    return max(row["next_fire"], latest), next_after(row["cron"], row["timezone"], now)


async def _fire(tx: Tx, row: Row, fire_at: datetime, upcoming: datetime) -> None:
    job = NewJob(
        id=uuid7(), operation=row["operation"], queue=row["queue"], payload_json=row["payload"], tenant=row["tenant"],
        lane=row["tenant"], priority=row["priority"], max_attempts=row["max_attempts"],
        key=f"schedule {row['name']} {fire_at.isoformat()}",
    )  # fmt: skip
    [made] = await tx.insert_jobs([job])
    await tx.execute("schedule_fired", name=row["name"], fired=fire_at, next_fire=upcoming, job_id=made.id)


class Schedules:
    """What is planned, and a way to hold it: a paused schedule misses its times, and fires once when it is resumed.

    Those that code declares (`app.schedule`) live and die with it, see `declaring.py`; `add` and `remove` are for others.
    `also` is what is to happen in the same transaction as a change."""

    def __init__(self, services: Services) -> None:
        self._services, self._store = services, services.store

    async def list(self) -> Sequence[Schedule]:
        return await self._store.read(self._all)

    async def get(self, name: str) -> Schedule:
        return await self._store.read(partial(self._named, name=name))

    async def add(
        self,
        name: str,
        cron: str,
        operation: str,
        payload: Any = None,
        *,
        tenant: str = DEFAULT_TENANT,
        timezone: str = "UTC",
        priority: int = DEFAULT_PRIORITY,
        queue: str | None = None,
        also: Also[Schedule] | None = None,
    ) -> Schedule:
        """Plans something that no code declares. The queue must be named for an operation that this app does not know.
        NameTaken if there is a schedule of this name, unless its code is gone."""
        planned = check(
            Planned(
                check_name("a schedule's name", name), cron, operation, payload, check_label("tenant", tenant), timezone,
                check_priority(priority), queue,
            )
        )  # fmt: skip

        async def unit(tx: Tx) -> Schedule:
            found = next((plan for plan in await self._all(tx) if plan.name == name), None)
            if found is not None and not found.retired:
                raise NameTaken(f"there is a schedule {name!r} already ({_kept_by(found)}); give this one another name")
            await tx.execute("remove_schedule", name=name)
            await put(tx, self._services, planned, PEOPLE)
            return await self._named(tx, name)

        return await self._store.run(together(unit, also))

    async def change(
        self,
        name: str,
        cron: str,
        operation: str,
        payload: Any = None,
        *,
        tenant: str = DEFAULT_TENANT,
        timezone: str = "UTC",
        priority: int = DEFAULT_PRIORITY,
        queue: str | None = None,
        also: Also[Schedule] | None = None,
    ) -> Schedule:
        """Plans it anew, all of it; whether it is paused stays. NameTaken if code declares it."""
        planned = check(
            Planned(
                name, cron, operation, payload, check_label("tenant", tenant), timezone, check_priority(priority), queue
            )
        )  # fmt: skip

        async def unit(tx: Tx) -> Schedule:
            found = await self._named(tx, name)
            if found.origin == CODE:
                raise NameTaken(
                    f"schedule {name!r} is declared by code, which would have the last word; change it there, or pause it "
                    "and make another one"
                )
            await put(tx, self._services, planned, PEOPLE)
            return await self._named(tx, name)

        return await self._store.run(together(unit, also))

    async def remove(self, name: str, *, also: Also[Schedule] | None = None) -> Schedule:
        """Removes what people have made, or what its code has left behind; jobs that it has enqueued stay."""

        async def unit(tx: Tx) -> Schedule:
            found = await self._named(tx, name)
            if found.origin == CODE and not found.retired:
                raise NameTaken(
                    f"schedule {name!r} is declared by the code of a process that runs, and would come back with it; take "
                    f"app.schedule({name!r}, …) out of the code, or pause it"
                )
            await tx.execute("remove_schedule", name=name)
            return found

        return await self._store.run(together(unit, also))

    async def pause(self, name: str, *, also: Also[None] | None = None) -> None:
        await self._set_paused(name, True, also)

    async def resume(self, name: str, *, also: Also[None] | None = None) -> None:
        await self._set_paused(name, False, also)

    async def fire(self, name: str, *, also: Also[str] | None = None) -> str:
        """Enqueues its job now, whatever its times say and whether it is paused; answers the job's id."""

        async def unit(tx: Tx) -> str:
            await self._named(tx, name)
            rows = await tx.fetch("schedule_by_name", name=name)
            await _fire(tx, rows[0], tx.now, rows[0]["next_fire"])
            [fired] = await tx.fetch("schedule_by_name", name=name)
            return str(fired["last_job_id"])

        return await self._store.run(together(unit, also))

    async def _set_paused(self, name: str, paused: bool, also: Also[None] | None) -> None:
        async def unit(tx: Tx) -> None:
            await self._named(tx, name)
            await tx.execute("pause_schedule", name=name, paused=paused)

        await self._store.run(together(unit, also))

    async def _all(self, tx: Tx) -> Sequence[Schedule]:
        declared = {row["name"] for row in await tx.fetch("declared", now=tx.now)} | set(self._services.declared)
        return [_schedule_from(row, declared) for row in await tx.fetch("schedules")]

    async def _named(self, tx: Tx, name: str) -> Schedule:
        plans = {plan.name: plan for plan in await self._all(tx)}
        if name not in plans:
            raise ScheduleNotFound(name, plans)
        return plans[name]


def _kept_by(plan: Schedule) -> str:
    return "code declares it" if plan.origin == CODE else "somebody has made it"


def _schedule_from(row: Row, declared: Collection[str]) -> Schedule:
    last, retired = row["last_job_id"], row["origin"] == CODE and row["name"] not in declared
    return Schedule(
        row["name"], row["cron"], row["timezone"], row["operation"], row["payload"], row["tenant"], row["priority"],
        bool(row["paused"]), row["next_fire"], row["last_fire"], None if last is None else str(last),
        row["origin"], retired,
    )  # fmt: skip


async def seconds_until_next(services: Services) -> float:
    async def unit(tx: Tx) -> float:
        rows = await tx.fetch("next_schedule", now=tx.now, own=services.declared)
        moment = rows[0]["next_fire"] if rows else None
        return 60.0 if moment is None else (moment - tx.now).total_seconds()

    return min(60.0, max(0.05, await services.store.read(unit)))
