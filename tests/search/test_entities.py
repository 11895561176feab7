"""Rules are measured: what they find in marked paragraphs, and what of it is right."""

import textwrap
import time

import pytest

from tests.search.measuring import entity_figures, marked_texts
from towpath.search import mentions
from towpath.search.recognizing import PRECISION, SHOWN
from towpath.search.recognizing.finding import every_mention


def test_what_is_said_of_precision_is_what_was_measured():
    figures = entity_figures()
    assert sum(figure.marked for figure in figures.values()) >= 150
    assert {type: round(figure.precision, 2) for type, figure in figures.items()} == PRECISION


def test_a_type_that_is_wrong_too_often_is_not_shown(monkeypatch: pytest.MonkeyPatch):
    assert set(SHOWN) == {type for type, precision in PRECISION.items() if precision >= 0.8}
    text = "Mr. Jonas Feld paid 12 euros."
    assert {one.type for one in mentions(text)} == {"person", "money"}
    monkeypatch.setattr("towpath.search.recognizing.finding.SHOWN", ("money",))
    assert {one.type for one in mentions(text)} == {"money"}
    assert {one.type for one in every_mention(text)} == {"person", "money"}


def test_most_of_what_is_marked_is_found():
    assert {type: figure.recall >= 0.85 for type, figure in entity_figures().items()} == dict.fromkeys(PRECISION, True)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("1,250.00 EUR", "1250.00 EUR"),
        ("1.250,00 €", "1250.00 EUR"),
        ("€ 1 250", "1250.00 EUR"),
        ("$1.2 million", "1200000.00 USD"),
        ("12. März 2025", "2025-03-12"),
        ("March 12, 2025", "2025-03-12"),
        ("12.03.2025", "2025-03-12"),
        ("le 12 mars 2025", "2025-03-12"),
        ("DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("HTTPS://Example.org/A", "example.org/A"),
        ("Frau Müller", "muller"),
        ("+49 89 1234567", "+49891234567"),
    ],
)
def test_a_key_is_the_same_however_it_is_written(text: str, key: str):
    assert [one.key for one in every_mention(text)] == [key]


@pytest.mark.parametrize("width", [44, 60, 90])
def test_what_is_named_does_not_depend_on_where_lines_end_or_how_far_words_stand_apart(width: int):
    for text, _ in marked_texts():
        told = [(one.type, one.value, one.key) for one in every_mention(text)]
        lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
        long = [line for line in lines[:-1] if len(line) >= 40]
        if len(long) == len(lines) - 1:  # a shorter one would look as if its author had ended it
            set_ = "\n".join(lines).replace(" ", "  ")
            got = every_mention(set_)
            assert [(one.type, one.value, one.key) for one in got] == told, set_
            assert [" ".join(set_[one.start : one.end].split()) for one in got] == [value for _, value, _ in told]


def test_a_name_does_not_go_on_in_the_next_line_of_an_address():
    text = "Herr Jonas Feld\nBirkenweg 3\n\nMs. Priya Raman\n\nHarbour Office"
    assert [one.value for one in every_mention(text)] == ["Herr Jonas Feld", "Ms. Priya Raman"]


@pytest.mark.parametrize(
    "text", ["31.02.2025", "DE00 1234 5678 9012 3456 78", "version 2.4.1", "at 7:45", "COVID-19", "May I?"]
)
def test_what_only_looks_like_one_is_none(text: str):
    assert every_mention(text) == []


@pytest.mark.parametrize("part", ["a@", "Mr. A ", "1,000", "+1 ", "A-1-", "Aa Bb ", "http://", "0 ", "DE11 "])
def test_no_text_makes_a_rule_run_for_ever(part: str):
    """Computing, not waiting: other processes do not count. A rule that tries everything would take hours."""
    began = time.process_time()
    every_mention(part * 5_000)
    assert time.process_time() - began < 20
