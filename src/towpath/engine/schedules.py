"""Cron schedules that fire once, however many processes watch them.

Whoever locks a due schedule's row first fires it and moves its next time on, in one transaction with the job. After a
downtime a schedule fires once, for the latest time it missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from towpath.core.errors import ConfigurationError
from towpath.core.ids import uuid7
from towpath.core.points import reach
from towpath.core.records import NewJob, Schedule
from towpath.engine.services import Services
from towpath.store.also import Also, together
from towpath.store.contract import Row, Tx


@dataclass(frozen=True, slots=True)
class Planned:
    """A schedule as the app declares it."""

    name: str
    cron: str
    operation: str
    payload: Any
    tenant: str
    timezone: str
    priority: int


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


async def register(services: Services, plans: list[Planned]) -> None:
    """Writes what the app declares. A schedule whose cron has not changed keeps its next time."""

    async def unit(tx: Tx) -> None:
        for planned in plans:
            job = services.new_job(planned.operation, planned.payload, tenant=planned.tenant, priority=planned.priority)
            await tx.execute(
                "put_schedule", name=planned.name, cron=planned.cron, timezone=planned.timezone,
                operation=planned.operation, queue=job.queue, payload=job.payload_json, tenant=planned.tenant,
                priority=planned.priority, max_attempts=job.max_attempts,
                next_fire=next_after(planned.cron, planned.timezone, tx.now),
            )  # fmt: skip

    if plans:
        await services.store.run(unit)


async def fire_due(services: Services) -> int:
    """Fires every schedule that is due; answers how many. One that cannot be read here is told after the others."""
    if not await services.store.read(lambda tx: tx.fetch("schedule_is_due", now=tx.now)):
        return 0
    await reach("schedule.seen")

    async def unit(tx: Tx) -> tuple[int, list[str]]:
        due, unread = await tx.fetch("due_schedules", now=tx.now), []
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
    `also` is what is to happen in the same transaction as a change."""

    def __init__(self, services: Services) -> None:
        self._store = services.store

    async def list(self) -> Sequence[Schedule]:
        return [_schedule_from(row) for row in await self._store.read(lambda tx: tx.fetch("schedules"))]

    async def pause(self, name: str, *, also: Also[None] | None = None) -> None:
        await self._set_paused(name, True, also)

    async def resume(self, name: str, *, also: Also[None] | None = None) -> None:
        await self._set_paused(name, False, also)

    async def fire(self, name: str, *, also: Also[str] | None = None) -> str:
        """Enqueues its job now, whatever its times say and whether it is paused; answers the job's id."""

        async def unit(tx: Tx) -> str:
            rows = await tx.fetch("schedule_by_name", name=name)
            if not rows:
                raise ConfigurationError(f"no schedule is named {name!r}; towpath schedules lists them")
            await _fire(tx, rows[0], tx.now, rows[0]["next_fire"])
            [fired] = await tx.fetch("schedule_by_name", name=name)
            return str(fired["last_job_id"])

        return await self._store.run(together(unit, also))

    async def _set_paused(self, name: str, paused: bool, also: Also[None] | None) -> None:
        async def unit(tx: Tx) -> None:
            if not await tx.execute("pause_schedule", name=name, paused=paused):
                raise ConfigurationError(f"no schedule is named {name!r}; towpath schedules lists them")

        await self._store.run(together(unit, also))


def _schedule_from(row: Row) -> Schedule:
    last = row["last_job_id"]
    return Schedule(
        row["name"], row["cron"], row["timezone"], row["operation"], row["payload"], row["tenant"], row["priority"],
        bool(row["paused"]), row["next_fire"], row["last_fire"], None if last is None else str(last),
    )  # fmt: skip


async def seconds_until_next(services: Services) -> float:
    async def unit(tx: Tx) -> float:
        rows = await tx.fetch("next_schedule")
        moment = rows[0]["next_fire"] if rows else None
        return 60.0 if moment is None else (moment - tx.now).total_seconds()

    return min(60.0, max(0.05, await services.store.read(unit)))
