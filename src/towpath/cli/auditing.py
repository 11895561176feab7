"""The lines that commands leave in the audit log.

Whoever can run commands on the database needs no account, so a line names the user of the operating system. The log came
with the server's accounts: a database that has never had a server has none, and nothing is written there.
"""

from __future__ import annotations

import os
import pwd
from typing import Any

from towpath.engine.app import App
from towpath.http import audit
from towpath.http.facts import Facts, Note
from towpath.identity.slice import SLICE
from towpath.store.also import Also
from towpath.store.migrating import pending

VIA = "cli"


async def note(app: App, action: str, target: str | None = None, **details: Any) -> None:
    """For what takes several transactions, or has been done already."""
    if await _has_log(app):
        await audit.write(app.services.store, Facts(), [_line(action, target, details)])


async def noting(app: App, action: str, target: str | None = None, **details: Any) -> Also[Any] | None:
    """For what is one transaction: `also=await noting(app, "queue.pause", queue)`. Both are there, or neither."""
    return audit.also(_line(action, target, details)) if await _has_log(app) else None


async def _has_log(app: App) -> bool:
    store = app.services.store
    if await pending(store, [SLICE]):
        return False
    if "audit_add" not in store.queries.names() and SLICE.queries is not None:
        store.queries.load(SLICE.queries)
    return True


def _line(action: str, target: str | None, details: dict[str, Any]) -> Note:
    given = {name: value for name, value in details.items() if value is not None}
    return Note(action, target, account=_user(), via=VIA, details=given or None)


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run as a number that has no name
        return f"uid {os.getuid()}"
