"""Reading documents: which process reads which, and what is done with pages that are pictures.

To start a process takes a fifth of a second of computing, mostly to load the library. So one is kept ready, and one that
has read somebody's document reads the next of the same owner: what a document that has taken it over could see there is its
own owner's.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from towpath.extraction.answers import pictures_of, understood
from towpath.extraction.child import Child, Task
from towpath.extraction.contract import Extracted, Limits, Options, Page
from towpath.walls.lock import WALLS

_LONGEST_NAME = 255
_NO_TEXT = "no text was found in it"
_NO_OCR = "it has pages without text, which are not read as pictures here: TOWPATH_EXTRACT_OCR is off"


async def extract(
    source: Path | bytes, name: str = "", *, limits: Limits | None = None, options: Options | None = None
) -> Extracted:
    """One document, in a process of its own. Raises `DocumentUnreadable`."""
    async with Extractors(limits, spare=False) as extractors:
        return await extractors.extract(source, name, options=options)


class Extractors:
    """The processes of one worker: at most `at_once` that work, each of one owner's, and one that is ready if `spare`."""

    def __init__(
        self, limits: Limits | None = None, *, at_once: int | None = None, idle_seconds: float = 30.0, spare: bool = True,
        walls: Sequence[str] = WALLS,
    ) -> None:  # fmt: skip
        self._limits, self._walls, self._idle_seconds, self._wants_spare = limits or Limits(), walls, idle_seconds, spare
        self._at_once = at_once or os.cpu_count() or 1
        self._turn = asyncio.Semaphore(self._at_once)
        self._idle: dict[Child, tuple[Task, asyncio.TimerHandle]] = {}
        self._starting: asyncio.Task[Child] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def extract(
        self, source: Path | bytes, name: str = "", *, owner: str | None = None, options: Options | None = None
    ) -> Extracted:
        """Raises `DocumentUnreadable`, or `Transient` if it is not the document's fault. `owner` is whom the document
        belongs to, such as its tenant; without one its process reads nothing else."""
        options, began = options or Options(), time.monotonic()
        async with self._turn:
            answer = await self._asked("text", source, name, (), owner)
            found = understood(answer, name, self._limits)
            if pictures := pictures_of(answer)[: self._limits.pages]:
                found = await self._with_pictures(found, source, pictures, owner, options)
        if not any(char.isalnum() for page in found.pages for char in page.text):
            found = replace(found, warnings=(*found.warnings, _NO_TEXT))
        return replace(found, seconds=time.monotonic() - began)

    async def _with_pictures(
        self, found: Extracted, source: Path | bytes, pictures: tuple[int, ...], owner: str | None, options: Options
    ) -> Extracted:
        if not options.ocr:
            pages = found.pages or (Page(1, ""),)
            return replace(found, pages=pages, warnings=(*found.warnings, _NO_OCR))
        answer = await self._asked("pictures", source, found.name, pictures, owner)
        return _joined(found, understood(answer, found.name, self._limits))

    async def _asked(self, task: Task, source: Path | bytes, name: str, pages: tuple[int, ...], owner: str | None) -> Any:
        limits = self._limits
        asked = {
            "name": name[-_LONGEST_NAME:], "most_pages": limits.pages, "most_characters": limits.characters,
            "most_unpacked": limits.unpacked, "most_pixels": limits.pixels, "pages": pages,
        }  # fmt: skip
        child = await self._taken(task, owner)
        try:
            return await child.ask(asked, source)
        finally:
            self._leave(child, task)

    async def _taken(self, task: Task, owner: str | None) -> Child:
        for child, (of, timer) in list(self._idle.items()):
            if of == task and child.owner == owner and child.alive:
                del self._idle[child]
                timer.cancel()
                return child
        child = await self._new(task)
        child.owner = owner
        return child

    async def _new(self, task: Task) -> Child:
        if task == "pictures" or not self._wants_spare:
            return await Child.started(task, self._limits, self._walls)
        ready, self._starting = self._starting, None
        if ready is None:
            ready = self._start()
        self._starting = self._start()  # for whoever comes next
        try:
            child = await asyncio.shield(ready)
        except asyncio.CancelledError:
            self._end(ready)
            raise
        if child.alive:
            return child
        self._forget(child)
        return await Child.started(task, self._limits, self._walls)

    def _start(self) -> asyncio.Task[Child]:
        return asyncio.create_task(Child.started("text", self._limits, self._walls))

    def _leave(self, child: Child, task: Task) -> None:
        if child.owner is None or child.last or not child.alive:
            self._forget(child)
            return
        if len(self._idle) >= self._at_once:
            oldest = next(iter(self._idle))
            self._idle.pop(oldest)[1].cancel()
            self._forget(oldest)
        timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._expired, child)
        self._idle[child] = (task, timer)

    def _expired(self, child: Child) -> None:
        if self._idle.pop(child, None) is not None:
            self._forget(child)

    def _forget(self, child: Child) -> None:
        self._later(child.end())

    def _end(self, ready: asyncio.Task[Child]) -> None:
        async def ended() -> None:
            with suppress(Exception):  # whoever wanted it has been told
                await (await ready).end()

        self._later(ended())

    def _later(self, ending: Any) -> None:
        task = asyncio.ensure_future(ending)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Nothing is left when it returns."""
        if self._starting is not None:
            self._end(self._starting)
            self._starting = None
        for child, (_, timer) in self._idle.items():
            timer.cancel()
            self._forget(child)
        self._idle.clear()
        while self._ending:
            await asyncio.wait(self._ending)


def _joined(found: Extracted, seen: Extracted) -> Extracted:
    """Pages with text as they are written, the others as they were read off their pictures."""
    if not found.pages:
        return replace(seen, metadata=found.metadata, warnings=(*found.warnings, *seen.warnings))
    read = {page.number: page for page in seen.pages}
    pages = tuple(read.get(page.number, page) for page in found.pages)
    written = any(page.text and page.number not in read for page in found.pages)
    return replace(
        found, pages=pages, method="mixed" if written else "ocr", engine=f"{found.engine}+{seen.engine}",
        engine_version=f"{found.engine_version}+{seen.engine_version}", warnings=(*found.warnings, *seen.warnings),
    )  # fmt: skip
