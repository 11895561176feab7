"""Passages: cut where a text may be cut, never over the end of a page, and nothing of it lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towpath import SchemaInvalid
from towpath.search import Line, Page, passages_of, passages_of_lines
from towpath.search.chunks import tokens_in


def test_paragraphs_are_kept_together_and_sentences_whole():
    paragraph = "It rains today. Nobody goes out, and the dog sleeps all day long."
    found = passages_of("\n\n".join([paragraph] * 4), tokens=40)
    assert [one.text.count("It rains") for one in found] == [2, 2]
    long = passages_of(" ".join(f"Sentence number {number} is here." for number in range(40)), tokens=32)
    assert all(re.fullmatch(r"Sentence.*here\.", one.text, re.DOTALL) for one in long)


def test_a_passage_never_spans_two_pages():
    found = passages_of([Page("End of one.", 1), Page("", 2), Page("Begin of three.", 3, offset=13)])
    assert [(one.page, one.text, one.start, one.end) for one in found] == [
        (1, "End of one.", 0, 11),
        (3, "Begin of three.", 13, 28),
    ]


def test_spoken_lines_keep_their_seconds():
    lines = [Line(f"This is the line with number {number}.", number * 10.0, number * 10.0 + 9) for number in range(5)]
    found = passages_of_lines([*lines, Line("  ", 60, 61)], tokens=20)
    assert [(one.second, one.until) for one in found] == [(0.0, 19.0), (20.0, 39.0), (40.0, 49.0)]
    assert all(one.tokens <= 20 for one in found)


@given(st.text(alphabet=st.sampled_from("ab .,\n!?ä中9"), max_size=400), st.integers(16, 60))
def test_nothing_is_lost_and_nothing_is_too_long(text: str, tokens: int):
    found = passages_of(text, tokens=tokens)
    assert all(text[one.start : one.end] == one.text for one in found)
    assert "".join("".join(one.text.split()) for one in found) == "".join(text.split()) or _only_marks(text, found)
    assert all(one.tokens == tokens_in(one.text) <= tokens for one in found)


def _only_marks(text, found):
    """What stands between passages is white space and the quotes that close a sentence."""
    kept = "".join("".join(one.text.split()) for one in found)
    return len("".join(text.split())) - len(kept) == 0


def test_a_line_without_end_is_cut_all_the_same():
    found = passages_of("x" * 100_000, tokens=100)
    assert sum(len(one.text) for one in found) == 100_000
    assert max(one.tokens for one in found) <= 100


def test_too_short_passages_are_refused():
    with pytest.raises(SchemaInvalid, match="16 tokens or more"):
        passages_of("x", tokens=3)
