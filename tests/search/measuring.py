"""How good search is, in figures: on texts and questions that were fixed before there was anything to search with."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from towpath import App, Transaction, search
from towpath.search import Passage, Source
from towpath.search.finding import How
from towpath.search.recognizing.finding import every_mention

CORPUS = Path(__file__).parent / "corpus"
TENANT = "measured"
WAYS: tuple[How, ...] = ("words", "meaning", "both")
_MARKED = re.compile(r"\[([a-z]+):([^\]]*)\]")


@dataclass(frozen=True)
class Asked:
    kind: str
    answer: str
    question: str


@dataclass(frozen=True)
class Ranking:
    """`recall`: the share of questions with their passage among the first five. `mrr`: the mean of one through its place."""

    recall: float
    mrr: float


@dataclass(frozen=True)
class Figure:
    marked: int
    precision: float
    recall: float


def _lines(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (CORPUS / name).read_text("utf-8").splitlines()]


def passages() -> list[tuple[str, str, str]]:
    """Id, language and text of each."""
    return [(id, language, text) for id, language, text in _lines("passages.tsv")]


def questions(half: str) -> list[Asked]:
    return [Asked(*line) for line in _lines(f"{half}.tsv")]


async def fill(app: App) -> None:
    given = passages()
    vectors = search.embedded([text for _, _, text in given])
    width = 2 * vectors.dimensions
    rows = [
        search.Vectors(vectors.model, vectors.dimensions, vectors.packed[at * width : (at + 1) * width])
        for at in range(len(given))
    ]

    async def unit(tx: Transaction) -> None:
        for (id, language, text), row in zip(given, rows, strict=True):
            await search.replace(tx, Source(TENANT, "note", id, language=language), [Passage(text)], row)

    await app.transact(unit)


async def ranking(app: App, how: How, asked: Sequence[Asked]) -> dict[str, Ranking]:
    """By kind of question, and of `all` of them."""
    places: dict[str, list[int]] = {}
    for one in asked:
        found = await search.find(app, TENANT, one.question, how=how, limit=50)
        ids = [hit.passage.source_id for hit in found.hits]
        place = ids.index(one.answer) + 1 if one.answer in ids else 0
        for kind in (one.kind, "all"):
            places.setdefault(kind, []).append(place)
    return {kind: _figures(found) for kind, found in places.items()}


def _figures(places: Sequence[int]) -> Ranking:
    return Ranking(sum(0 < place <= 5 for place in places) / len(places), sum(1 / at for at in places if at) / len(places))


def entity_figures() -> dict[str, Figure]:
    """By type; right is what has the same type and the same letters."""
    right: Counter[str] = Counter()
    marked: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for text, wanted in marked_texts():
        got = {(one.type, one.start, one.end) for one in every_mention(text)}
        marked.update(type for type, _, _ in wanted)
        found.update(type for type, _, _ in got)
        right.update(type for type, _, _ in got & wanted)
    return {
        type: Figure(marked[type], right[type] / found[type] if found[type] else 0.0, right[type] / marked[type])
        for type in sorted(marked)
    }


def marked_texts() -> list[tuple[str, set[tuple[str, int, int]]]]:
    """Paragraphs with the type and the place of everything that is named in them."""
    return [_unmarked(line) for line in (CORPUS / "entities.txt").read_text("utf-8").splitlines()]


def _unmarked(line: str) -> tuple[str, set[tuple[str, int, int]]]:
    text, wanted, last = "", set(), 0
    for found in _MARKED.finditer(line):
        text += line[last : found.start()]
        wanted.add((found[1], len(text), len(text) + len(found[2])))
        text += found[2]
        last = found.end()
    return text + line[last:], wanted
