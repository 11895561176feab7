"""An app for `towpath up` that hears nothing until the file named by LISTENS_FROM is there: a test can kill it before."""

import asyncio
import os
from pathlib import Path
from typing import Any

from tests.cli.commands import until
from towpath import App
from towpath.recordings import windows

_really = windows._hear_window
_sign = Path(os.environ["LISTENS_FROM"])


async def _hear(*window: Any) -> Any:
    await asyncio.to_thread(until, _sign.exists, 120)
    return await _really(*window)


windows._hear_window = _hear
app = App()
