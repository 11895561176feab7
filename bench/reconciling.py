"""A reconciler's cycle with a hundred orders due: while as many wait as are due, and while ten thousand do. Both databases
are there at once and take turns, so that what else the machine does meets both."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field

from bench.databases import Databases
from bench.measure import Progress
from bench.processes import call
from bench.subjects.towpath import Towpath
from tests.engine.at_providers import make_due, make_waiting, wait_at
from tests.providers.scripted import ScriptedProvider
from towpath import App
from towpath.engine.tending.reconciler import Reconciler
from towpath.store.sql import Queries

DUE = 100
_FOR_EVER = 10**9
_WARM_UP = 2


@dataclass
class Cycles:
    """While so many waited: milliseconds, those of the processor among them, and statements, which are always as many."""

    milliseconds: list[float] = field(default_factory=list)
    computing: list[float] = field(default_factory=list)
    statements: int = 0


def cycles(databases: Databases, *, waiting: tuple[int, int], rounds: int, progress: Progress) -> dict[int, Cycles]:
    """By how many wait."""
    urls = {count: databases.fresh(Towpath(databases.kind)) for count in waiting}
    try:
        found: dict[int, Cycles] = call("uvloop", _cycles, urls, rounds)
    finally:
        for url in urls.values():
            databases.drop(url)
    for count, told in found.items():
        progress(f"{count:,} waiting, ms", sorted(told.milliseconds)[len(told.milliseconds) // 2])
    return found


async def _cycles(urls: dict[int, str], rounds: int) -> dict[int, Cycles]:
    found = {count: Cycles() for count in urls}
    async with AsyncExitStack() as stack:
        places: dict[int, tuple[App, list[str]]] = {}
        for count, url in urls.items():
            app, provider = App(url), ScriptedProvider(looks=_FOR_EVER)
            wait_at(app, provider)
            await stack.enter_async_context(app)
            places[count] = app, (await make_waiting(app, provider, count))[:DUE]
        for turn in range(-_WARM_UP, rounds):
            for count, (app, due) in places.items():
                await make_due(app, due)
                await _cycle(app, found[count] if turn >= 0 else Cycles())
    return found


async def _cycle(app: App, told: Cycles) -> None:
    with _counted() as sent:
        began, computed = time.perf_counter(), time.process_time()
        await Reconciler(app.services).turn()
        told.computing.append((time.process_time() - computed) * 1000)
        told.milliseconds.append((time.perf_counter() - began) * 1000)
    told.statements = sum(sent.values())


@contextmanager
def _counted() -> Iterator[Counter[str]]:
    """How often each named statement is sent meanwhile."""
    sent: Counter[str] = Counter()
    look_up = Queries.__getitem__

    def counting(queries: Queries, name: str) -> object:
        sent[name] += 1
        return look_up(queries, name)

    Queries.__getitem__ = counting  # type: ignore[method-assign, assignment]  # for as long as it is counted
    try:
        yield sent
    finally:
        Queries.__getitem__ = look_up  # type: ignore[method-assign]
