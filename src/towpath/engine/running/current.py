"""Where the running code stands: in which job, and inside which step. Follows it into tasks and threads."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from towpath.engine.running.context import Context
    from towpath.engine.running.steps import Meter

current_context: ContextVar[Context | None] = ContextVar("towpath_context", default=None)
current_meter: ContextVar[Meter | None] = ContextVar("towpath_meter", default=None)
# "step" or "parallel" while the job cannot be suspended, because code is on the stack that is not recorded yet.
busy_with: ContextVar[str | None] = ContextVar("towpath_busy_with", default=None)
