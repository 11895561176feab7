"""Whether bells can travel: what `towpath doctor` asks of the transport."""

from __future__ import annotations

from towpath.core.errors import OperationError, TowpathError
from towpath.engine.asking.findings import Finding, ok, problem
from towpath.transports import Transport


async def checkup(transport: Transport) -> Finding:
    """Without its bells nothing is lost: workers look by themselves."""
    try:
        said = await transport.check()
    except TowpathError as error:
        said_too = error.remedy if isinstance(error, OperationError) else None
        message = f"{error}; until then workers look for new jobs by themselves"
        return problem("transport", message, said_too or "start it, or check TOWPATH_TRANSPORT")
    return ok("transport", f"{transport.name}: {said}")
