"""Things that remote workers do in tests, also in processes of their own: `--load tests.products.fleet.operations`."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from towpath import Fatal, SchemaInvalid, Transient
from towpath.fleet import RemoteContext, remote_operation

SHOUT, STUMBLE, DAWDLE, LINGER = "yard.shout", "yard.stumble", "yard.dawdle", "yard.linger"
_KINDS = {"transient": Transient, "schema_invalid": SchemaInvalid, "fatal": Fatal}
_gates: dict[str, asyncio.Event] = {}


@remote_operation(SHOUT)
async def shout(ctx: RemoteContext) -> None:
    """The input in capitals."""
    await ctx.progress(1, 2, "drawing breath")
    await ctx.emit("shout.begun", "it begins", fields={"bytes": ctx.input.stat().st_size})
    await ctx.meter(model="lungs", cost_cents=1.5)
    ctx.output.write_bytes(ctx.input.read_bytes().upper())


@remote_operation(STUMBLE, kind="transcription")
async def stumble(ctx: RemoteContext) -> None:
    """Fails as its settings say, so many times."""
    if ctx.attempt <= ctx.settings.get("times", 1):
        raise _KINDS[ctx.settings["how"]]("it stumbled")
    ctx.output.write_bytes(b"upright")


@remote_operation(DAWDLE)
async def dawdle(ctx: RemoteContext) -> None:
    """Does nothing until somebody lets it go on, or it is told to stop."""
    await _gates.setdefault(ctx.task, asyncio.Event()).wait()
    ctx.output.write_bytes(b"at last")


@remote_operation(LINGER)
async def linger(ctx: RemoteContext) -> None:
    """Like `dawdle`, for workers in processes of their own: until there is the file that its settings name."""
    await ctx.in_thread(_let_go_by, Path(ctx.settings["begun"]), Path(ctx.settings["go_on"]))
    ctx.output.write_bytes(f"attempt {ctx.attempt}".encode())


def _let_go_by(begun: Path, go_on: Path) -> None:
    begun.touch()
    while not go_on.exists():
        time.sleep(0.02)  # another process makes it


def let_go(task_id: str) -> None:
    _gates.setdefault(task_id, asyncio.Event()).set()
