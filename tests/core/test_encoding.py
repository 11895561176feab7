"""Strict JSON: what goes in comes out the same, and what cannot is refused with its path."""

import dataclasses
import enum
import json
import math
from datetime import UTC, date, datetime
from uuid import UUID

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from towpath.core.encoding import decode, deeper_than, encode, plain
from towpath.core.errors import EncodingError

text = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=20)


@given(values)
def test_whatever_json_can_carry_comes_out_as_it_went_in(value):
    assert decode(encode(value)) == value


def test_nul_characters_survive_because_transcripts_contain_them():
    encoded = encode({"text": "a\x00b"})
    assert "\x00" not in encoded
    assert decode(encoded) == {"text": "a\x00b"}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_without_a_json_form_are_refused_with_their_path(number):
    with pytest.raises(EncodingError, match=r"the payload cannot be written as JSON at \$\.pages\[1\]\.score"):
        encode({"pages": [{"score": 1.0}, {"score": number}]}, what="the payload")


def test_a_lone_surrogate_is_refused_with_its_path_and_the_remedy():
    with pytest.raises(EncodingError, match=r"\$\.names\[2\].*lone surrogate.*errors='replace'"):
        encode({"names": ["a", "b", "\ud83d"]})


def test_a_lone_surrogate_in_a_key_is_refused_too():
    with pytest.raises(EncodingError, match="lone surrogate"):
        encode({"a": {"\ud800": 1}})


def test_a_structure_that_contains_itself_is_refused():
    loop: list[object] = []
    loop.append({"again": loop})
    with pytest.raises(EncodingError, match="refers to itself"):
        encode(loop)


def test_a_structure_that_is_nested_too_deeply_is_refused():
    deep: list[object] = []
    for _ in range(200_000):
        deep = [deep]
    with pytest.raises(EncodingError, match="nested more than 200 levels"):
        encode(deep)


@pytest.mark.parametrize("value", [b"bytes", object(), {("a", "b"): 1}, {1, "a"}], ids=["bytes", "object", "key", "set"])
def test_a_thing_without_a_json_form_is_refused_with_its_path(value):
    with pytest.raises(EncodingError, match=r"at \$\.inner"):
        encode({"inner": value})


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    when: datetime


class Model(pydantic.BaseModel):
    day: date


def test_types_that_people_put_into_payloads_have_their_obvious_form():
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    value = {
        "point": Point(1, moment),
        "model": Model(day=date(2026, 1, 2)),
        "id": UUID(int=1),
        "colour": Colour.RED,
        "set": {3, 1, 2},
        "tuple": (1, 2),
    }
    assert decode(encode(value)) == {
        "point": {"x": 1, "when": "2026-01-02T00:00:00+00:00"},
        "model": {"day": "2026-01-02"},
        "id": "00000000-0000-0000-0000-000000000001",
        "colour": "red",
        "set": [1, 2, 3],
        "tuple": [1, 2],
    }


def test_nothing_recorded_decodes_to_nothing():
    assert decode(None) is None


@given(st.text(), st.integers(2, 50))
def test_plain_text_is_storable_everywhere_and_not_endless(message, limit):
    made = plain(message, limit)
    assert "\x00" not in made
    made.encode("utf-8")
    assert len(made) <= limit


def test_plain_leaves_ordinary_text_alone():
    assert plain("Grüße, 東京 🎉\n") == "Grüße, 東京 🎉\n"


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, -1.5, "", "ä\u2028\"\\/\x00\x1f", [], {}, [[], {}], (1, 2), {1: "a", 2.5: "b", None: "c"},
        {"nested": {"deep": [1, {"x": None}]}}, 10**30, 1e-300,
    ],
)  # fmt: skip
def test_the_text_is_what_the_standard_library_writes(value):
    assert encode(value) == json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def nested(levels):
    value = 1
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return value


def test_values_are_nested_at_most_as_deeply_as_they_can_be_read_back():
    assert decode(encode(nested(200))) == nested(200)
    with pytest.raises(EncodingError, match="the payload is nested more than 200 levels deep"):
        encode(nested(201), what="the payload")


def test_many_brackets_side_by_side_or_in_a_text_are_not_deep():
    encode([[]] * 1000)
    encode("[" * 1000 + "{" * 1000)
    encode({"text": '\\"' + "[" * 300})


def test_depth_is_measured_without_recursion():
    assert not deeper_than(nested(200), 200)
    assert deeper_than(nested(201), 200)
    assert deeper_than(nested(50_000), 200)
    assert not deeper_than("[[[", 1)
