"""Passages found by the words that are in them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from towpath import Reading
from towpath.search.question import Alternatives, Question
from towpath.search.spelling import alike
from towpath.search.terms import SYNTAX, Syntax, mark

_COUNTED = 5000
"""A word is not counted further: it is a common one."""
_SIZED = 20_000
"""Nor are a tenant's passages: beyond that a word is as rare as it gets."""
_ENOUGH = 12_000
"""Passages to be looked at. The rarest words of a question bring them; what the common ones would add says little."""


@dataclass(frozen=True, slots=True)
class Matching:
    """A question in the database's own syntax. `weights` are those of the words that are looked for,
    `ideal` is what a passage with every word of the question would have; `forms` and `quoted`, those of phrases, are
    highlighted."""

    matches: str | None
    must: str | None
    must_not: str | None
    weights: Mapping[str, float]
    ideal: float
    forms: frozenset[str]
    quoted: frozenset[str]


async def matching(now: Reading, tenant: str, question: Question, dialect: str) -> Matching:
    syntax, before = SYNTAX[dialect], mark(tenant)
    groups = [*question.words, *_required(question)]
    counts = await _counts(now, before, [form for group in groups for form in group])
    for place, group in enumerate(groups[: len(question.words)]):
        if not any(counts[form] for form in group) and (meant := await alike(now, tenant, group)):
            groups[place] = tuple(meant)
            counts |= await _counts(now, before, meant)
    [row] = await now.query("search_size", tenant=tenant, most=_SIZED)
    weight = {form: _weight(passages, row["passages"]) for form, passages in counts.items()}
    chosen = _rarest([form for group in groups for form in group], counts)
    must = [_phrase(syntax, before, rows) for rows in question.phrases]
    must_not = [_phrase(syntax, before, rows) for rows in question.excluded]
    return Matching(
        _matches(syntax, [before + form for form in chosen], must, must_not),
        syntax.all(must) if must else None,
        syntax.any(must_not) if must_not else None,
        {before + form: weight[form] for form in chosen},
        sum(_worth(group, counts, weight) for group in groups),
        frozenset(form for group in groups[: len(question.words)] for form in group),
        frozenset(form for group in groups[len(question.words) :] for form in group),
    )


async def found(
    now: Reading, tenant: str, asked: Matching, sources: Sequence[int] | None, limit: int
) -> list[tuple[int, float]]:
    """Numbers of passages, the best first, each with how much of the question it has: 1 is about all of it."""
    if asked.matches is None:
        return []
    rows = await now.query(
        "search_words_found", tenant=tenant, matches=asked.matches, everywhere=sources is None, sources=list(sources or []),
        lexemes=list(asked.weights), weights=list(asked.weights.values()), limit=limit,
    )  # fmt: skip
    return [(row["number"], (row["score"] or 0.0) / asked.ideal) for row in rows]


async def allowed(now: Reading, asked: Matching, numbers: Collection[int]) -> set[int]:
    """Of passages that were found otherwise: those with all phrases, and with nothing that must not be there."""
    left = set(numbers)
    if asked.must is not None:
        left = await _among(now, asked.must, left)
    if asked.must_not is not None:
        left -= await _among(now, asked.must_not, left)
    return left


async def _among(now: Reading, matches: str, numbers: Collection[int]) -> set[int]:
    return {row["number"] for row in await now.query("search_words_among", matches=matches, numbers=list(numbers))}


async def _counts(now: Reading, before: str, forms: Sequence[str]) -> dict[str, int]:
    lexemes = [before + form for form in dict.fromkeys(forms)]
    rows = await now.query("search_lexeme_counts", lexemes=lexemes, most=_COUNTED) if lexemes else []
    return {row["lexeme"].removeprefix(before): row["passages"] for row in rows}


def _required(question: Question) -> list[Alternatives]:
    """The words of phrases, one by one."""
    return [tuple(dict.fromkeys(forms)) for rows in question.phrases for forms in zip(*rows, strict=True)]


def _rarest(forms: Sequence[str], counts: Mapping[str, int]) -> list[str]:
    chosen: list[str] = []
    looked_at = 0
    for form in sorted({form for form in forms if counts[form]}, key=lambda form: (counts[form], form)):
        if chosen and looked_at + counts[form] > _ENOUGH:
            break
        chosen.append(form)
        looked_at += counts[form]
    return chosen


def _weight(passages: int, of: int) -> float:
    """The rarer, the more; never below zero."""
    return math.log(1 + (max(of, passages) - passages + 0.5) / (passages + 0.5))


def _worth(group: Alternatives, counts: Mapping[str, int], weight: Mapping[str, float]) -> float:
    """What a word adds to the ideal: the most that one of its forms can, and where nobody has it, what a new one would."""
    return max((weight[form] for form in group if counts[form]), default=weight[group[0]])


def _phrase(syntax: Syntax, before: str, rows: Sequence[Alternatives]) -> str:
    return syntax.any(syntax.phrase([before + form for form in row]) for row in rows)


def _matches(syntax: Syntax, lexemes: Sequence[str], must: Sequence[str], must_not: Sequence[str]) -> str | None:
    """Where there are phrases they decide, and the other words only rank: "phrase and (phrase or word)" says that."""
    words = [syntax.phrase([lexeme]) for lexeme in lexemes]
    if must:
        every = syntax.all(must)
        wanted = syntax.all([every, syntax.any([every, *words])]) if words else every
    elif words:
        wanted = syntax.any(words)
    else:
        return None
    return syntax.without(wanted, syntax.any(must_not)) if must_not else wanted
