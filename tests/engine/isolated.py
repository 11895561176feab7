"""Operations that run in a process of their own. They live in a module because the process has to import them."""

import asyncio
import logging
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

from pydantic import BaseModel

from towpath import App, Fatal, Partial, RateLimited, RetryLater, SchemaInvalid, Settings, Transient


class Numbers(BaseModel):
    values: list[int]


class VendorDown(Exception):
    pass


class Unpicklable:
    def __reduce__(self):
        raise TypeError("not this one")


def add(ctx, numbers: Numbers):
    ctx.emit("adding", fields={"how_many": len(numbers.values)})
    ctx.progress(1, 2)
    ctx.meter(model="abacus", tokens_in=len(numbers.values))
    logging.getLogger("abacus").warning("in process %d", os.getpid())
    return {"sum": sum(numbers.values), "pid": os.getpid(), "tenant": ctx.tenant, "attempt": ctx.attempt}


async def add_async(ctx, numbers: Numbers):
    await asyncio.sleep(0)
    return sum(numbers.values)


def raises(ctx, which):
    errors = {
        "transient": Transient("try again"),
        "limited": RateLimited("slow down", retry_after=100, budget="vendor"),
        "schema": SchemaInvalid("must be a date", path="invoice.date"),
        "fatal": Fatal("never", remedy="look at it"),
        "vendor": VendorDown("it is down"),
        "later": RetryLater("GPU busy", delay_seconds=90),
        "exit": SystemExit(2),
    }
    raise errors[which]


def returns(ctx, which):
    return {
        "partial": Partial("half", "the rest is missing"),
        "later": RetryLater("GPU busy", delay_seconds=90),
        "unpicklable": Unpicklable(),
        "nothing": None,
    }[which]


def dies(ctx, how):
    if how == "segfault":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "exit":
        os._exit(7)


def eats_memory(ctx):
    return len(bytearray(4 * 2**30))


def hangs_with_a_grandchild(ctx, file):
    """Writes its own pid and its child's, then hangs; neither listens to SIGTERM."""
    ignore = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    grandchild = subprocess.Popen([sys.executable, "-c", ignore])
    Path(f"{file}.tmp").write_text(f"{os.getpid()} {grandchild.pid}")
    Path(f"{file}.tmp").rename(file)
    while True:
        time.sleep(1)


def register(app: App) -> None:
    for name, function, options in [
        ("add", add, {}),
        ("add.async", add_async, {}),
        ("raises", raises, {"max_attempts": 1}),
        ("returns", returns, {}),
        ("dies", dies, {"max_attempts": 1}),
        ("eats", eats_memory, {"memory_mb": 512}),
        ("hangs", hangs_with_a_grandchild, {}),
    ]:
        app.operation(name, isolation="process", **options)(function)


async def main(url: str) -> None:
    """A worker process to be killed: `python -m tests.engine.isolated URL`."""
    async with App(url, settings=Settings(blobs_url=sys.argv[2])) as app:
        register(app)
        await app.run_worker()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))


def tell_subject(ctx):
    return ctx.subject
