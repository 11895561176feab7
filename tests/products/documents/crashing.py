"""A worker process that dies in the middle of a document: `python -m tests.products.documents.crashing URL BLOBS WITNESS`.

A document's name says where: `EMBEDDED made.txt` kills the worker that has just done that step, before it is on record. Of
each document one worker dies. What is begun and what is done is told to the witness, a file that outlives all of them.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from towpath import App, Settings
from towpath.documents.machine import Machine
from towpath.documents.work import Work
from towpath.server import attach

BEGUN, MADE, RECORDED = "begun", "made", "recorded"
PLACES = (BEGUN, MADE, RECORDED)
"""Before the step's function is called; when it has returned, and what it wrote is committed; when the step is on record."""
LIBRARIES = ("numpy", "wordllama", "asyncpg", "towpath.documents.routes", "towpath.models.embeddings")
"""What takes long to import: a nursery does it once for all whom it brings forth."""


def settings_of(blobs_url: str) -> Settings:
    return Settings(blobs_url=blobs_url, lease_seconds=1.0, poll_seconds=0.1, drain_seconds=0.2, pool_size=4)


def name_of(step: str, place: str) -> str:
    return f"{step} {place}.txt"


class Witness:
    def __init__(self, path: Path) -> None:
        self._path = path

    def tell(self, *words: str) -> None:
        with self._path.open("a") as file:  # one write below a page, so lines of several processes do not mix
            file.write("\t".join(words) + "\n")

    def told(self) -> list[tuple[str, ...]]:
        return [tuple(line.split("\t")) for line in self._path.read_text().splitlines()] if self._path.exists() else []


def watched(witness: Witness, deadly: bool) -> Callable[[], None]:
    """Has every step told to the witness, and if it is deadly, this process killed where the document's name says. Answers
    how to undo it."""
    really = Machine.run_step

    async def run_step(machine: Machine, target: str, function: Any) -> Any:
        work = machine._work

        def here(place: str) -> None:
            if deadly and work.ctx.attempt == 1 and work.item.name == name_of(target, place):
                witness.tell("killed", work.item.name)
                os.kill(os.getpid(), signal.SIGKILL)

        async def told(work: Work) -> Any:
            witness.tell("ran", work.item.name, target)
            here(BEGUN)
            output = await function(work)
            here(MADE)
            return output

        output = await really(machine, target, told)
        here(RECORDED)
        return output

    Machine.run_step = run_step  # type: ignore[method-assign]
    return lambda: setattr(Machine, "run_step", really)


async def work(url: str, blobs_url: str, witness: str) -> None:
    watched(Witness(Path(witness)), deadly=True)
    async with attach(App(url, settings=settings_of(blobs_url))) as app:
        await app.run_worker(["documents"], concurrency=1)


def main() -> None:
    asyncio.run(work(*sys.argv[1:4]))


if __name__ == "__main__":
    main()
