"""Text in parts: nothing of it is lost, whatever it looks like."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from towpath.core.errors import ConfigurationError
from towpath.models.chunks import LEAST, chunks, sentences

WORDS = st.text(st.characters(blacklist_categories=("Cs",)), min_size=0, max_size=30)
TEXTS = st.lists(st.one_of(WORDS, st.sampled_from([". ", "! ", "?\n", "。", "\n\n", "…  "])), max_size=200).map(" ".join)


def letters(text: str) -> str:
    return "".join(text.split())


@given(TEXTS, st.integers(LEAST, 400))
@example("a" * 1000, LEAST)
@example(("word " * 300).strip() + ". Next.", LEAST)
@example("", LEAST)
def test_every_sentence_is_in_some_chunk_and_every_letter_in_order(text: str, most: int) -> None:
    made = chunks(text, most)
    assert letters("".join(made)) == letters(text)
    assert all(0 < len(chunk) <= most for chunk in made)
    for sentence in sentences(text):
        if len(sentence) <= most:
            assert any(sentence in chunk for chunk in made)


@given(TEXTS)
def test_sentences_hold_every_letter_in_order(text: str) -> None:
    assert letters("".join(sentences(text))) == letters(text)


def test_sentences_end_where_people_end_them() -> None:
    text = 'He said: "Go." She went.  Version 3.5 is out! Really?\nYes\n今日は。明日。'
    assert sentences(text) == ['He said: "Go."', "She went.", "Version 3.5 is out!", "Really?", "Yes", "今日は。", "明日。"]


def test_chunks_are_filled_before_the_next_is_begun() -> None:
    text = " ".join(f"Sentence number {number} is here." for number in range(100))
    made = chunks(text, 1000)
    assert len(made) == 3
    assert all(len(chunk) > 900 for chunk in made[:-1])


def test_chunks_too_small_for_anything_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="TOWPATH_CHAT_CHUNK_CHARACTERS must be 200 or more, got 10"):
        chunks("Text.", 10)
