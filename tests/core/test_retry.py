"""Backoff: full jitter inside known bounds, for any number of failures."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towpath.core.retry import Retry

seconds = st.floats(min_value=0, max_value=1e6)
policies = st.builds(Retry, limit=st.integers(1, 50), base=seconds, factor=st.floats(1, 10), max_delay=seconds)


@given(policies, st.integers(1, 10_000), st.randoms(use_true_random=False))
def test_a_delay_is_never_negative_and_never_above_its_ceiling(policy, failures, chance):
    delay = policy.delay(failures, chance.uniform)
    assert 0 <= delay <= policy.ceiling(failures) <= policy.max_delay


@given(policies, st.integers(1, 500))
def test_the_ceiling_never_shrinks(policy, failures):
    assert policy.ceiling(failures) <= policy.ceiling(failures + 1)


def test_the_ceiling_doubles_until_it_is_reached():
    policy = Retry(base=2.0, factor=2.0, max_delay=10.0)
    assert [policy.ceiling(n) for n in (1, 2, 3, 4, 5)] == [2.0, 4.0, 8.0, 10.0, 10.0]


def test_without_jitter_the_delay_is_the_ceiling():
    assert Retry(base=3.0, jitter=False).delay(1) == 3.0


def test_jitter_spreads_over_the_whole_range():
    policy = Retry(base=8.0)
    chance = random.Random(7)
    delays = [policy.delay(1, chance.uniform) for _ in range(200)]
    assert min(delays) < 1.0
    assert max(delays) > 7.0


@pytest.mark.parametrize(
    ("wrong", "named"),
    [({"limit": 0}, "limit"), ({"base": -1}, "base"), ({"max_delay": -1}, "max_delay"), ({"factor": 0.5}, "factor")],
)
def test_a_policy_that_makes_no_sense_is_refused_by_name(wrong, named):
    with pytest.raises(ValueError, match=named):
        Retry(**wrong)
