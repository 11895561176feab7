"""Search: what it finds of questions that nothing was tuned with, and how long an answer takes with many passages.

The many are put together from sentences of the few, so that questions have something to find and words are as common as
in real text; a question is asked once, by one client, after one to warm up.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.contender import DatabaseKind, EventLoop
from bench.databases import Databases
from bench.processes import call
from tests.search.measuring import TENANT, WAYS, Ranking, fill, passages, questions, ranking
from towpath import App, Settings, search
from towpath.search import Passage, Source

_PER_SOURCE = 200
_SENTENCES = 4
_SEED = 20261118


@dataclass(frozen=True)
class Index:
    database: DatabaseKind
    name: str = "search"
    event_loop: EventLoop = "uvloop"

    async def install(self, url: str) -> None:
        async with _make_app(url, Path.cwd()):
            pass  # opening it applies the migrations


def _make_app(url: str, blobs: Path) -> App:
    app = App(url, settings=Settings(blobs_url=blobs.as_uri()))
    search.attach(app)
    return app


def rankings(databases: Databases) -> dict[str, dict[str, Ranking]]:
    """By way of searching and kind of question."""
    with _place(databases) as (url, blobs):
        return call("uvloop", _rankings, url, blobs)


async def _rankings(url: str, blobs: Path) -> dict[str, dict[str, Ranking]]:
    async with _make_app(url, blobs) as app:
        await fill(app)
        return {how: await ranking(app, how, questions("held_out")) for how in WAYS}


def latencies(databases: Databases, *, passages: int, questions: int) -> dict[str, list[float]]:
    """Milliseconds of each question, by way of searching."""
    with _place(databases) as (url, blobs):
        return call("uvloop", _latencies, url, blobs, passages, questions)


async def _latencies(url: str, blobs: Path, many: int, number: int) -> dict[str, list[float]]:
    asked = [one.question for half in ("held_out", "tuning") for one in questions(half)][:number]
    async with _make_app(url, blobs) as app:
        for source, texts in enumerate(_texts(many)):
            vectors = search.embedded(texts)
            given = [Passage(text) for text in texts]
            await app.transact(
                lambda tx, s=source, g=given, v=vectors: search.replace(
                    tx, Source(TENANT, "note", str(s), language="en"), g, v
                )
            )
        taken: dict[str, list[float]] = {}
        for how in WAYS:
            await search.find(app, TENANT, "warm", how=how)
            taken[how] = [await _timed(app, question, how) for question in asked]
        return taken


async def _timed(app: App, question: str, how: str) -> float:
    began = time.perf_counter()
    await search.find(app, TENANT, question, how=how)
    return (time.perf_counter() - began) * 1000


def _texts(many: int) -> Iterator[list[str]]:
    dice = random.Random(_SEED)
    sentences = [sentence for _, _, text in passages() for sentence in text.split(". ")]
    for begin in range(0, many, _PER_SOURCE):
        size = min(_PER_SOURCE, many - begin)
        yield [". ".join(dice.choices(sentences, k=_SENTENCES)) for _ in range(size)]


@contextmanager
def _place(databases: Databases) -> Iterator[tuple[str, Path]]:
    url = databases.fresh(Index(databases.kind))
    try:
        with TemporaryDirectory(prefix="towpath-bench-") as blobs:
            yield url, Path(blobs)
    finally:
        databases.drop(url)
