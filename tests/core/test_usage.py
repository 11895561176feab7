"""What calls of models cost: unknown is None, never zero, and a sum says when something is missing from it."""

from towpath.core.usage import NOTHING, Cost, Price, Usage, call, cost, total

CHEAP = Price(input_per_million_cents=100.0, output_per_million_cents=200.0)


def used(*calls: Usage | None) -> Usage:
    whole = Usage(calls[0].model)
    for one in calls:
        whole.add(one)
    return whole


def test_a_reported_cost_counts_whatever_the_price_list_says():
    assert cost(call("m", 1000, 10, 3.5), CHEAP) == Cost(3.5, unpriced=False)


def test_tokens_without_a_price_are_priced_by_the_list():
    assert cost(call("m", 1_000_000, 500_000, None), CHEAP) == Cost(200.0, unpriced=False)


def test_without_a_list_they_are_unknown_and_not_free():
    assert cost(call("m", 1000, 10, None), None) == Cost(None, unpriced=True)


def test_the_known_part_of_a_sum_is_told_together_with_the_fact_that_it_is_a_part():
    assert cost(used(call("m", 1000, 10, 3.5), call("m", 1000, 10, None)), None) == Cost(3.5, unpriced=True)


def test_reported_and_listed_prices_are_added():
    assert cost(used(call("m", 9, 9, 3.5), call("m", 1_000_000, None, None)), CHEAP) == Cost(103.5, unpriced=False)


def test_a_call_without_tokens_cannot_be_priced_by_any_list():
    assert cost(call("m", None, None, None), CHEAP) == Cost(None, unpriced=True)


def test_a_call_that_was_free_is_known_to_be_free():
    assert cost(call("m", 5, 5, 0.0), None) == Cost(0.0, unpriced=False)


def test_money_without_a_model_counts():
    assert total([call(None, None, None, 7.0)], {}) == Cost(7.0, unpriced=False)


def test_a_total_over_an_unknown_model_says_so():
    parts = [call("known", 1_000_000, 0, None), call("unknown", 5, 5, None)]
    assert total(parts, {"known": CHEAP}) == Cost(100.0, unpriced=True)


def test_of_nothing_there_is_no_cost_and_nothing_is_missing():
    assert total([], {}) == cost(Usage(), None) == NOTHING


def test_nothing_told_is_no_call():
    assert call(None, None, None, None) is None


def test_adding_keeps_every_part():
    whole = used(call("m", 1, 2, 3.0), call("m", 4, 5, None), call("m", None, None, None))
    assert whole == Usage("m", 3, 5, 7, 3.0, 1, 4, 5, 1)
