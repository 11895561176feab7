"""The operations that the chaos runs are made of: small, of every kind, and each telling the witness what it does.

Results and events carry the fence of the attempt that made them, so that the checker can tell whose word was taken.
"""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.chaos.witness import Witness
from towpath import App, Deferred, Fatal, Partial, Retry, RetryLater, Transient
from towpath.config import Settings, load
from towpath.core.outcomes import Suspend

MAIN, STRICT, FAIR = "main", "strict", "fair"
QUEUES = (MAIN, STRICT, FAIR)
NARROW, ROOTS = "narrow", "roots"  # lanes of MAIN with caps
LANE_SLOTS, LANE_ROOTS, QUEUE_SLOTS = 2, 2, 2
LEASE_SECONDS = 1.0
SCHEDULES = tuple(f"tick-{number}" for number in range(1, 6))

_EAGER = Retry(limit=20, base=0.05, max_delay=0.2)


def settings(**changes: Any) -> Settings:
    """Short leases and polls: what takes half a minute in production takes a second here."""
    short = {"lease_seconds": LEASE_SECONDS, "poll_seconds": 0.2, "drain_seconds": 0.2}
    return replace(load({}), **short | changes)


def make_app(url: str, witness: Witness, **changes: Any) -> App:
    """An app whose handlers speak to the witness, and whose blobs lie beside the witness's file."""
    blobs = (witness.path.absolute().parent / "blobs").as_uri()
    app = App(url, settings=settings(**{"blobs_url": blobs} | changes))
    _register(app, witness)
    return app


async def set_caps(app: App) -> None:
    await app.queues.cap(STRICT, QUEUE_SLOTS)
    await app.queues.lane(MAIN, NARROW, max_slots=LANE_SLOTS)
    await app.queues.lane(MAIN, ROOTS, max_roots=LANE_ROOTS)


@contextmanager
def _entry(witness: Witness, ctx: Any) -> Iterator[None]:
    """Tells when a handler began and how it ended. One that died says nothing more, which is telling too."""
    witness.tell("start", ctx.id, ctx.fence, op=ctx.operation)
    how = "died"
    try:
        yield
        how = "returned"
    except Suspend:
        how = "suspended"
        raise
    except asyncio.CancelledError:
        how = "interrupted"
        raise
    except Exception as error:
        how = type(error).__name__
        raise
    finally:
        witness.tell("end", ctx.id, ctx.fence, how=how)


def _register(app: App, witness: Witness) -> None:  # one closure per operation is the clearest form
    _register_single(app, witness)
    _register_families(app, witness)
    _register_troublesome(app, witness)
    for name in SCHEDULES:
        app.schedule(name, "0 0 1 1 *", "plain", {"schedule": name})  # once a year by itself; tests move its next time


def _register_single(app: App, witness: Witness) -> None:
    async def work(ctx: Any, payload: dict[str, Any]) -> dict[str, Any]:
        with _entry(witness, ctx):
            await asyncio.sleep(payload.get("seconds", 0.005))
            return {"fence": ctx.fence}

    for name, queue in (("plain", MAIN), ("strict", STRICT), ("fair", FAIR)):
        app.operation(name, queue=queue, retry=_EAGER)(work)

    @app.operation("steps", queue=MAIN, retry=_EAGER)
    async def steps(ctx: Any, payload: dict[str, Any]) -> dict[str, Any]:
        with _entry(witness, ctx):
            for number in range(3):
                await ctx.step("part", _told_step, witness, ctx, f"part:{number}", key=str(number))
                await ctx.progress(number + 1, 3, f"part {number}")
            a, b = await ctx.parallel(
                ctx.step("left", _told_step, witness, ctx, "left"), ctx.step("right", _told_step, witness, ctx, "right")
            )
            await ctx.sleep(0.05)
            await ctx.emit("chaos.rested", fields={"fence": ctx.fence})
            return {"fence": ctx.fence, "steps": [a, b]}

    @app.operation("waiter", queue=MAIN, retry=_EAGER)
    async def waiter(ctx: Any, payload: dict[str, Any]) -> dict[str, Any]:
        with _entry(witness, ctx):
            await ctx.step("before", _told_step, witness, ctx, "before")
            return {"fence": ctx.fence, "go": await ctx.wait_for("go", timeout=60)}

    @app.operation("chain", queue=MAIN, retry=_EAGER)
    async def chain(ctx: Any, payload: dict[str, Any]) -> dict[str, Any]:
        with _entry(witness, ctx):
            follow_up = ctx.enqueue("plain", {"follows": ctx.id})
            await asyncio.sleep(0.005)
            return {"fence": ctx.fence, "follow_up": follow_up}

    @app.operation("threaded", queue=MAIN, retry=_EAGER)
    def threaded(ctx: Any, payload: dict[str, Any]) -> dict[str, Any]:
        # The bridge has no fence; the claim of this entry is the context's.
        with _entry(witness, ctx._ctx):
            time.sleep(payload.get("seconds", 0.01))
            ctx.emit("chaos.threaded", fields={"fence": ctx._ctx.fence})
            return {"fence": ctx._ctx.fence}


async def _told_step(witness: Witness, ctx: Any, name: str) -> str:
    witness.tell("step", ctx.id, ctx.fence, name=name)
    await asyncio.sleep(0.005)
    return name


def _register_families(app: App, witness: Witness) -> None:
    @app.operation("gatherer", queue=MAIN, retry=_EAGER)
    async def gatherer(ctx: Any, payload: dict[str, Any]) -> dict[str, Any]:
        with _entry(witness, ctx):
            await ctx.step("before", _told_step, witness, ctx, "before")
            children = await ctx.gather("leaf", _leaves(payload), partial_ok=True)
            await ctx.step("after", _told_step, witness, ctx, "after")
            return {"fence": ctx.fence, "gathered": children.total}

    @app.operation("spawner", queue=MAIN, retry=_EAGER)
    async def spawner(ctx: Any, payload: dict[str, Any]) -> Deferred:
        with _entry(witness, ctx):
            await ctx.spawn("leaf", _leaves(payload))
            return Deferred({"fence": ctx.fence})

    @app.operation("abandoner", queue=MAIN, retry=_EAGER)
    async def abandoner(ctx: Any, payload: dict[str, Any]) -> None:
        with _entry(witness, ctx):
            await ctx.spawn("leaf", _leaves(payload))
            raise Fatal("it gives up and takes its children along")

    @app.operation("leaf", queue=MAIN, retry=_EAGER)
    async def leaf(ctx: Any, payload: dict[str, Any]) -> Any:
        with _entry(witness, ctx):
            await asyncio.sleep(payload.get("seconds", 0.005))
            if payload.get("bad"):
                raise Fatal("this leaf is bad")
            return Partial({"fence": ctx.fence}, "a part is missing") if payload.get("partial") else {"fence": ctx.fence}


def _leaves(payload: dict[str, Any]) -> list[dict[str, Any]]:
    bad = payload.get("bad_leaves", 0)
    return [{"number": number, "bad": number < bad} for number in range(payload.get("leaves", 3))]


def _register_troublesome(app: App, witness: Witness) -> None:
    @app.operation("flaky", queue=MAIN, retry=_EAGER)
    async def flaky(ctx: Any, payload: dict[str, Any]) -> dict[str, Any]:
        with _entry(witness, ctx):
            if ctx.attempt <= payload.get("times", 2):
                raise Transient(f"not yet, this is try {ctx.attempt}")
            return {"fence": ctx.fence}

    @app.operation("stubborn", queue=MAIN, retry=Retry(limit=3, base=0.3, factor=1.0, jitter=False))
    async def stubborn(ctx: Any, payload: dict[str, Any]) -> dict[str, Any]:
        with _entry(witness, ctx):
            if ctx.attempt <= payload.get("times", 5):
                raise Transient("it never works, and always takes its time to say so")
            return {"fence": ctx.fence}

    @app.operation("later", queue=MAIN, retry=_EAGER)
    async def later(ctx: Any, payload: dict[str, Any]) -> Any:
        with _entry(witness, ctx):
            if ctx.fence < 3:
                return RetryLater("not now", delay_seconds=0.05)
            return {"fence": ctx.fence}

    @app.operation("doomed", queue=MAIN, retry=_EAGER)
    async def doomed(ctx: Any, payload: dict[str, Any]) -> dict[str, Any]:
        with _entry(witness, ctx):
            if not payload.get("mended"):
                raise Fatal("this cannot work")
            return {"fence": ctx.fence}

    @app.operation("slow", queue=MAIN, retry=_EAGER)
    async def slow(ctx: Any, payload: dict[str, Any]) -> dict[str, Any]:
        with _entry(witness, ctx):
            for number in range(payload.get("rounds", 10)):
                await ctx.emit("chaos.round", fields={"fence": ctx.fence, "round": number})
                await asyncio.sleep(payload.get("seconds", 0.1))
            return {"fence": ctx.fence}

    @app.operation("stuck", queue=MAIN, retry=_EAGER)
    async def stuck(ctx: Any, payload: dict[str, Any]) -> dict[str, Any]:
        with _entry(witness, ctx):
            if ctx.fence == 1:
                await asyncio.Event().wait()  # until somebody interrupts it
            return {"fence": ctx.fence}

    @app.operation("poison", queue=MAIN, max_attempts=3)
    async def poison(ctx: Any, payload: dict[str, Any]) -> None:
        with _entry(witness, ctx):
            await asyncio.to_thread(_until_there, Path(payload["when"]))
            _DEATHS[payload["how"]]()


def _until_there(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def _exit_at_once() -> None:
    os._exit(23)


def _segfault() -> None:
    import ctypes

    with contextlib.suppress(Exception):
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    ctypes.string_at(0)


_DEATHS: dict[str, Callable[[], None]] = {"exit": _exit_at_once, "segfault": _segfault}
