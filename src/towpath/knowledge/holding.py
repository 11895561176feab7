"""What a model wrote, sentence by sentence: which passages each one cites, and whether they bear it out. No I/O.

A sentence stays if it cites a passage that the model was given, if what it cites has enough of its words, and if every
number in it stands there, too. Anything else is left out, and why is told: an answer is worth as much as what it rests on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from towpath.knowledge.prompt import NO_ANSWER
from towpath.search import content, language_of, numbers

SHARED = 0.25
"""So much of what a sentence says has to be in the passages it cites. The rest may be said in other words."""
CITES_NOTHING = "it cites no passage"
CITES_NO_SUCH = "it cites a passage that was not given"
NOT_SAID = "the passages that it cites do not say it"
NUMBER_NOT_SAID = "a number in it is in none of the passages that it cites"

_MARK = r"\[\s*\d{1,4}(?:\s*[,;]\s*\d{1,4})*\s*\]"
_MARKS = re.compile(rf"(?:\s*{_MARK})+")
_EARLY = re.compile(rf"((?:\s*{_MARK})+)\s*([.!?…。！？]+)")  # noqa: RUF001  # full-width marks end sentences, too
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+")  # as lists begin
_END = re.compile(r"[.!?…]+[\"'”’)]*\s+(?=[^\s\da-zß-öø-ÿ])|[。！？]")  # noqa: RUF001
_GOES_ON = re.compile(r"\s*[,;:–)]|\s+[a-zß-öø-ÿ]")
_SHORT = re.compile(
    r"(?:^|[\s(])(?:[A-Za-zÀ-ÿ]|\d{1,2}|Dr|Mr|Mrs|Ms|Prof|St|No|Nos|Nr|Abs|Art|Inc|Ltd|Co|vs|ca|bzw|etc|e\.g|i\.e|z\.B|d\.h|usw|Fr|Hr|Sr|Jr|Mme|Mlle)$"
)


@dataclass(frozen=True, slots=True)
class Written:
    """A sentence and the numbers that it cites, counted from 1."""

    text: str
    cites: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A sentence, and places in the list of passages that bear it out."""

    text: str
    passages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Judged:
    held: tuple[Held, ...]
    dropped: tuple[Dropped, ...]


def judged(answer: str, passages: Sequence[str]) -> Judged:
    known = [_Known(text) for text in passages]
    found = [_judge(one, known) for one in sentences(answer)]
    return Judged(
        tuple(one for one in found if isinstance(one, Held)), tuple(one for one in found if isinstance(one, Dropped))
    )


def sentences(answer: str) -> Iterator[Written]:
    """In their order. A citation belongs to the sentence before it, on whichever side of the full stop it stands."""
    if answer.strip().strip(".").upper() == NO_ANSWER:
        return
    for line in answer.splitlines():
        text = _EARLY.sub(r"\2\1", _BULLET.sub("", line)).strip()
        begin, said = 0, ""
        cites: tuple[int, ...] = ()
        for marks in _MARKS.finditer(text):
            said += text[begin : marks.start()]
            cites += tuple(int(one) for one in re.findall(r"\d+", marks[0]))
            begin = marks.end()
            if _GOES_ON.match(text, begin):
                continue  # the sentence says more, and cites for that, too
            yield from _cited(said, cites)
            said, cites = "", ()
        yield from _cited(said + text[begin:], cites)


def _cited(text: str, cites: tuple[int, ...]) -> Iterator[Written]:
    """The last sentence has the citations; those before it have none."""
    *before, last = [*_apart(text)] or [""]
    yield from (Written(one, ()) for one in before)
    if last:
        yield Written(last, tuple(dict.fromkeys(cites)))


def _apart(text: str) -> Iterator[str]:
    """Sentences of a text without citations. "Dr. Brandt" is no end of one."""
    last = 0
    for end in _END.finditer(text):
        piece = text[last : end.end()].strip()
        if not _SHORT.search(piece.rstrip(".!?…\"'”’) ")) or not piece.endswith("."):
            if _says(piece):
                yield piece
            last = end.end()
    if _says(rest := text[last:].strip()):
        yield rest


def _says(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


class _Known:
    """A passage as sentences are compared with it."""

    def __init__(self, text: str) -> None:
        self.language = language_of(text)
        self.content = content(text, self.language)
        self.numbers = numbers(text)

    def shared_with(self, sentence: str) -> tuple[frozenset[str], frozenset[str]]:
        """What a sentence says, and what of that is said here."""
        said = content(sentence, self.language)
        return said, said & self.content


def _judge(one: Written, known: Sequence[_Known]) -> Held | Dropped:
    if not one.cites:
        return Dropped(one.text, CITES_NOTHING)
    cited = [number - 1 for number in one.cites if 1 <= number <= len(known)]
    if not cited:
        return Dropped(one.text, CITES_NO_SUCH)
    shared = {place: known[place].shared_with(one.text) for place in cited}
    bearing = [place for place in cited if shared[place][1]]
    said = frozenset().union(*(shared[place][1] for place in bearing))
    least = min((len(shared[place][0]) for place in cited), default=0) * SHARED
    if not bearing or len(said) < least:
        return Dropped(one.text, NOT_SAID)
    if not numbers(one.text) <= frozenset().union(*(known[place].numbers for place in bearing)):
        return Dropped(one.text, NUMBER_NOT_SAID)
    return Held(one.text, tuple(bearing))
