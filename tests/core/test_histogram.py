"""Durations in logarithmic buckets: how far a percentile can be off, and that counts can be added."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towpath.core.histogram import FIRST, LAST, bucket, count, edge, middle, percentile

# The eighth root of two, and a little for the last bits.
BOUND = 2 ** (1 / 8) * (1 + 1e-6)

durations = st.floats(min_value=FIRST, max_value=1e8, allow_nan=False)


@given(durations)
def test_a_duration_lies_between_the_edges_of_its_bucket(seconds):
    number = bucket(seconds)
    assert seconds <= edge(number) * (1 + 1e-9)
    assert number == 0 or seconds > edge(number - 1) * (1 - 1e-9)


@given(durations)
def test_the_middle_of_a_bucket_is_never_further_off_than_the_eighth_root_of_two(seconds):
    if (number := bucket(seconds)) > 0:
        assert 1 / BOUND <= middle(number) / seconds <= BOUND


near_edges = st.builds(lambda number, off: edge(number) * (1 + off * 1e-15), st.integers(0, LAST), st.integers(-3, 3))


@given(st.lists(st.one_of(durations, near_edges, st.sampled_from([-1.0, 0.0, FIRST, 2.0**60]))))
def test_counting_many_at_once_puts_each_into_its_bucket(measured):
    assert count(measured) == Counter(map(bucket, measured))


@given(st.lists(durations, min_size=1), st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_a_percentile_is_within_nine_per_cent_of_the_exact_one(measured, share):
    exact = sorted(measured)[max(0, math.ceil(share * len(measured)) - 1)]
    answer = percentile(count(measured), share)
    assert answer is not None
    if exact > FIRST * (1 + 1e-9):
        assert 1 / BOUND <= answer / exact <= BOUND
    else:
        assert answer <= FIRST


@given(st.lists(durations), st.lists(durations))
def test_counts_can_be_added(one, other):
    assert count(one) + count(other) == count([*one, *other])


@given(durations, durations)
def test_a_longer_duration_is_never_in_a_lower_bucket(one, other):
    low, high = sorted([one, other])
    assert bucket(low) <= bucket(high)


@pytest.mark.parametrize("number", range(LAST + 1))
def test_an_edge_belongs_to_the_bucket_below_it(number):
    assert bucket(edge(number)) == number


@pytest.mark.parametrize("seconds", [-5.0, 0.0, 1e-9, FIRST])
def test_what_is_short_or_negative_is_in_the_first_bucket(seconds):
    assert bucket(seconds) == 0


def test_what_is_absurdly_long_is_in_the_last_bucket():
    assert bucket(1e300) == bucket(math.inf) == LAST


def test_of_nothing_there_is_no_percentile():
    assert percentile({}, 0.5) is None
    assert percentile(Counter({3: 0}), 0.5) is None
