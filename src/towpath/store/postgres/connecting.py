"""How connections are made, and which of their errors mean what."""

from __future__ import annotations

from typing import Any

import asyncpg

from towpath.core.errors import ConfigurationError, StoreUnavailable

# Generic plans: the planner otherwise re-plans each claim for its cursor, at several times the cost of running it.
# Such a plan is often made while a table is empty, and kept while it grows: the engine's statements never read a whole table
# that has an index for them. Those of slices and callers are planned as anywhere else; see `PostgresTx`.
# Every statement is small, whatever a planner without the values may think of it: no workers, no compiling.
_SETTINGS = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "application_name": "towpath",
    "timezone": "UTC",
}

# The last one comes when a newer release has added a column under our feet: the statement is prepared anew.
# UniqueViolation: somebody else's transaction took the key a moment ago; run again, the unit sees who holds it.
RUN_AGAIN = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.UniqueViolationError,
    asyncpg.InvalidCachedStatementError,
)
GONE = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # what the driver says when its connection breaks between two messages
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    ConnectionError,
    OSError,
)


# Errors that only a lost connection has. The others of `GONE` may be a caller's own: one of their sockets, a wrong argument.
CUT = (
    asyncpg.PostgresConnectionError,
    asyncpg.InternalClientError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)


class PoolExhausted(StoreUnavailable):
    """Every connection was in use for too long. The server is well, so waiting longer is for those who must."""


def options(url: str, idle_seconds: float | None = None) -> dict[str, Any]:
    """`idle_seconds`: the server ends a transaction that rests for so long. Its process is frozen or blocked, and would
    hold its row locks, and so everybody else, for as long as it likes."""
    limit = {} if idle_seconds is None else {"idle_in_transaction_session_timeout": str(max(1, round(idle_seconds * 1000)))}
    return {"dsn": url, "server_settings": _SETTINGS | limit, "command_timeout": 60, "timeout": 10}


async def prepare(connection: Any) -> None:
    """Ids are text everywhere in Towpath; the server writes them so, which is cheaper than an object per id."""
    await connection.set_type_codec("uuid", encoder=str, decoder=str, schema="pg_catalog", format="text")


async def connect(url: str, idle_seconds: float | None = None) -> asyncpg.Connection[Any]:
    connection = await asyncpg.connect(**options(url, idle_seconds))
    await prepare(connection)
    return connection


def is_gone(connection: Any) -> bool:
    try:
        return bool(connection.is_closed())
    except asyncpg.InterfaceError:  # the pool has taken it back, which it does when one breaks
        return True


def lost_transaction(error: BaseException, ending: bool, idle_seconds: float) -> StoreUnavailable:
    """What the caller of a transaction is told when its connection has gone."""
    if ending and not isinstance(error, asyncpg.InterfaceError):  # the driver's own refusal: nothing was sent
        return StoreUnavailable(
            f"the connection was lost while the transaction was being committed, so it may or may not have happened; "
            f"look for its rows before you try again ({error})"
        )
    return StoreUnavailable(
        f"the transaction was rolled back, because PostgreSQL has ended its connection: the server stopped, or the "
        f"transaction rested for more than {idle_seconds:g} s and its locks held up others; do slow work before or after it"
    )


def unavailable(error: BaseException) -> BaseException:
    """The error a caller should see instead of the driver's."""
    if isinstance(error, asyncpg.InvalidAuthorizationSpecificationError | asyncpg.InvalidCatalogNameError):
        return ConfigurationError(f"PostgreSQL refused the connection: {error}; check TOWPATH_DATABASE_URL")
    if isinstance(error, asyncpg.DiskFullError):
        return StoreUnavailable("PostgreSQL's disk is full; nothing of this transaction was kept. Free space and try again")
    if isinstance(error, (*GONE, TimeoutError)):
        return StoreUnavailable(f"PostgreSQL cannot be reached right now ({type(error).__name__}: {error})")
    return error
