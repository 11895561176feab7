"""How often somebody may try to log in.

Every attempt is counted before the password is looked at, under a row lock: a hundred at once get no further than one
after the other. An attempt during a block is refused without being counted, so that nobody can keep somebody else out
for longer than the block itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network

from towpath.http.errors import Throttled
from towpath.http.records import moment
from towpath.http.secrets import digest
from towpath.store.contract import Tx

_LONGEST = 900.0
FORGET_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Limit:
    """`free` attempts cost nothing; from then on each failure doubles the wait, from one second to a quarter of an hour."""

    free: int

    def wait(self, failures: int) -> float:
        return 0.0 if failures < self.free else min(_LONGEST, 2.0 ** min(failures - self.free, 30))


NAME, ADDRESS = Limit(5), Limit(20)


def subjects(name_key: str, address: str | None) -> dict[str, Limit]:
    """What an attempt counts against."""
    return {digest(f"name:{name_key}"): NAME, digest(f"address:{_network(address)}"): ADDRESS}


def _network(address: str | None) -> str:
    """Who has one IPv6 address has 2^64 of them."""
    try:
        found = ip_address(address or "")
    except ValueError:
        return address or ""
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found) if found.version == 4 or mapped else str(ip_network((found, 64), strict=False))


async def count(tx: Tx, limits: Mapping[str, Limit]) -> None:
    """Counts an attempt, or raises Throttled. `forgive` takes it back when it was a good one."""
    for subject in sorted(limits):
        await tx.execute("throttle_begin", subject=subject, now=tx.now)
    rows = await tx.fetch("throttle_lock", subjects=sorted(limits))
    waits = [_seconds_left(moment(row["blocked_until"]), tx.now) for row in rows]
    if (longest := max(waits, default=0.0)) > 0:
        raise Throttled(longest)
    for row in rows:
        fresh = (moment(row["last_at"]) or tx.now) < tx.now - FORGET_AFTER
        failures = 1 if fresh else row["failures"] + 1
        wait = limits[row["subject"]].wait(failures)
        blocked = tx.now + timedelta(seconds=wait) if wait else None
        await tx.execute("throttle_count", subject=row["subject"], failures=failures, now=tx.now, blocked_until=blocked)


def _seconds_left(until: datetime | None, now: datetime) -> float:
    return 0.0 if until is None else (until - now).total_seconds()


async def forgive(tx: Tx, limits: Mapping[str, Limit]) -> None:
    """After a good attempt: the name starts anew. The address only gets this attempt back: else somebody with an account
    of their own could go on guessing others' for ever."""
    for row in await tx.fetch("throttle_lock", subjects=sorted(limits)):
        if limits[row["subject"]] is NAME:
            await tx.execute("throttle_clear", subject=row["subject"])
        else:
            failures = max(0, row["failures"] - 1)
            await tx.execute(
                "throttle_count", subject=row["subject"], failures=failures, now=tx.now, blocked_until=None
            )  # fmt: skip
    await tx.execute("throttle_forget", before=tx.now - 2 * FORGET_AFTER)
