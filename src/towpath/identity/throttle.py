"""How often somebody may try to log in.

Every attempt is counted before the password is looked at, under a row lock: a hundred at once get no further than one
after the other. An attempt during a block is refused without being counted, so that nobody can keep somebody else out
for longer than the block itself.

Nor can a stranger keep the true user out by guessing: a browser that was logged in before (`devices.py`) counts by itself;
from elsewhere a name counts for each address by itself; and all addresses together are only slowed down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network

from towpath.core.moments import moment
from towpath.identity.errors import Throttled
from towpath.identity.secrets import digest
from towpath.store.contract import Tx

FORGET_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Limit:
    """`free` attempts cost nothing; from then on each failure doubles the wait, from one second to the longest."""

    free: int
    longest: float = 900.0
    forgiven: bool = True
    """Whether a good attempt clears it; otherwise it only gets that attempt back."""

    def wait(self, failures: int) -> float:
        return 0.0 if failures < self.free else min(self.longest, 2.0 ** min(failures - self.free, 30))


NAME = Limit(5)
"""One name from one address, or from one browser that is known."""
EVERYWHERE = Limit(50, longest=30.0, forgiven=False)
"""One name from all addresses that are not known: slowed down, never shut for long."""
ADDRESS = Limit(20, forgiven=False)
"""One address, whatever the names."""


def subjects(name_key: str, address: str | None) -> dict[str, Limit]:
    """What an attempt by a stranger counts against."""
    network = _network(address)
    return {
        digest(f"name:{name_key} from:{network}"): NAME,
        digest(f"name:{name_key}"): EVERYWHERE,
        digest(f"address:{network}"): ADDRESS,
    }


def known_subjects(name_key: str, device: str) -> dict[str, Limit]:
    """What an attempt from a browser counts against that was logged in with this name before."""
    return {digest(f"name:{name_key} device:{device}"): NAME}


def own_subjects(account_id: str) -> dict[str, Limit]:
    """What an attempt counts against by somebody who is logged in already."""
    return {digest(f"account:{account_id}"): NAME}


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
    """After a good attempt: the name starts anew where it came from. The address only gets this attempt back: else
    somebody with an account of their own could go on guessing others' for ever. So does the name from everywhere else:
    that its owner is here does not make the guesses there any fewer."""
    for row in await tx.fetch("throttle_lock", subjects=sorted(limits)):
        if limits[row["subject"]].forgiven:
            await tx.execute("throttle_clear", subject=row["subject"])
        else:
            failures = max(0, row["failures"] - 1)
            await tx.execute(
                "throttle_count", subject=row["subject"], failures=failures, now=tx.now, blocked_until=None
            )  # fmt: skip
    await tx.execute("throttle_forget", before=tx.now - 2 * FORGET_AFTER)
