"""Sentences of an answer stay if what they cite bears them out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towpath.knowledge.holding import (
    CITES_NO_SUCH,
    CITES_NOTHING,
    NOT_SAID,
    NUMBER_NOT_SAID,
    judged,
    sentences,
)

MILK, KITTEN = "Dr. Helen Brandt paid 1,250.00 EUR for milk on 12 March 2025.", "The kitten naps on the couch."
GERMAN = "Die Schleuse wird am 12. März 2025 um neun Uhr geöffnet."


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("The kitten naps on the couch [2].", [("The kitten naps on the couch.", (1,))]),
        ("The kitten naps on the couch. [2]", [("The kitten naps on the couch.", (1,))]),
        ("- Kittens nap on couches [2]", [("Kittens nap on couches", (1,))]),
        ("Dr. Brandt paid 1250 EUR [1].", [("Dr. Brandt paid 1250 EUR.", (0,))]),
        (
            "Brandt paid for milk [1], and the kitten naps [2].",
            [("Brandt paid for milk, and the kitten naps.", (0, 1))],
        ),
        ("The kitten naps, and Brandt paid [1][2].", [("The kitten naps, and Brandt paid.", (0, 1))]),
        ("The kitten naps, and Brandt paid [1, 2].", [("The kitten naps, and Brandt paid.", (0, 1))]),
        ("Die Schleuse wird am 12. März geöffnet [3].", [("Die Schleuse wird am 12. März geöffnet.", (2,))]),
        ("The kitten naps [2][9].", [("The kitten naps.", (1,))]),
        ("The kitten naps [1][2].", [("The kitten naps.", (1,))]),
    ],
)
def test_what_is_borne_out_stays_with_what_bears_it_out(answer: str, cited: list[tuple[str, tuple[int, ...]]]):
    found = judged(answer, [MILK, KITTEN, GERMAN])
    assert [(one.text, one.passages) for one in found.held] == cited
    assert found.dropped == ()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("The kitten naps on the couch.", CITES_NOTHING),
        ("The kitten naps on the couch [4].", CITES_NO_SUCH),
        ("The kitten naps on the couch [0].", CITES_NO_SUCH),
        ("Unicorns dance on rainbows all day [2].", NOT_SAID),
        ("Is it the one that they had with them [2]?", NOT_SAID),
        ("Brandt paid 1,350.00 EUR for milk [1].", NUMBER_NOT_SAID),
        ("Brandt paid for milk on 13 March 2025 [1].", NUMBER_NOT_SAID),
    ],
)
def test_what_is_not_is_left_out_and_why_is_told(answer: str, why: str):
    found = judged(answer, [MILK, KITTEN, GERMAN])
    assert (found.held, [one.why for one in found.dropped]) == ((), [why])


def test_a_sentence_before_a_cited_one_does_not_borrow_its_citation():
    found = judged("The moon is made of cheese. The kitten naps on the couch [2].", [MILK, KITTEN])
    assert [one.text for one in found.held] == ["The kitten naps on the couch."]
    assert [(one.text, one.why) for one in found.dropped] == [("The moon is made of cheese.", CITES_NOTHING)]


@pytest.mark.parametrize("answer", ["NO ANSWER", "No answer.", "", " \n", "[1]", "…"])
def test_nothing_said_is_no_sentence(answer: str):
    assert list(sentences(answer)) == []


@given(st.text(alphabet="ab .[]12,\n!Dr-", max_size=200))
def test_every_letter_of_an_answer_is_in_one_sentence(answer: str):
    """And nothing breaks, whatever a model writes."""
    said = "".join(one.text for one in sentences(answer))
    assert (said.count("a"), said.count("b")) == (answer.count("a"), answer.count("b"))
    judged(answer, ["a b 12"])
