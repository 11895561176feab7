"""Whatever somebody types is a question: nothing is an error, and nothing is read as a database's own syntax."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.search.shelf import Shelf
from towpath.search.question import understood
from towpath.search.words import words_of

_SYNTAX = [
    '"', '""', '"""', "*", "foo*", "NEAR(a b, 5)", "NEAR(", "a:b", "terms: x", "{terms}: x", "-", "--", "-*", '-"', "a AND",
    "OR", "NOT", "a NOT b", "(", ")", "((((", "^a", "a + b", "'", "''", "a'b", "\\", "a & b", "a | !b", "!", "<->",
    "a <2> b", ":*", "%", "_", "\x00", "\ud800", "a\x00b",
    "; DROP TABLE towpath_search_source", "' OR 1=1 --", "🙂", "\u202egnp",
    "x" * 10_000, '"' * 10_000, "a " * 5_000, "-a " * 3_000, '"a b" ' * 2_000, "²³", "\uff11\uff12", "e\u0301" * 500,
]  # fmt: skip


@pytest.mark.parametrize("how", ["both", "words"])
async def test_syntax_of_databases_and_garbage_never_fail(shelf: Shelf, how: str):
    await shelf.put("a", "foo bar and a terms near x.")
    dice = random.Random(7)
    noise = ["".join(chr(dice.choice((*range(1, 700), 0x4E2D, 0x1F600))) for _ in range(10_240)) for _ in range(3)]
    for question in [*_SYNTAX, *noise]:
        if question.replace("\x00", "").strip():
            await shelf.found(question, how=how)
    assert (await shelf.rows())["source"] == 1


async def test_operators_are_words(shelf: Shelf):
    await shelf.put("near", "near and not far", meaning=False)
    await shelf.put("far", "elsewhere", meaning=False)
    assert await shelf.ask("NEAR(") == ["near"]
    assert await shelf.ask("elsewhere NOT") == ["far", "near"]
    assert await shelf.ask("terms:elsewhere") == ["far"]
    assert await shelf.ask("elsewh*") == []


@given(st.text(max_size=200))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_words_stand_where_they_are_said_to_and_are_letters_and_digits(text: str):
    for language in ("de", None):
        for word in words_of(text, language):
            assert 0 <= word.start < word.end <= len(text)
            assert word.form
            assert not set(word.form) & set(" '\"\\:()&|!*_-")


@given(st.text(min_size=1, max_size=300))
def test_a_question_is_understood_or_refused_as_empty(text: str):
    if text.replace("\x00", "").strip():
        asked = understood(text, ["en", "de"])
        assert all(form for group in asked.words for form in group)
