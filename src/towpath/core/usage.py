"""What models were used for and what that costs. Unknown is None, never zero.

A call that came with its price counts with that price for ever. A call that came without is priced when somebody asks,
by the price list of that day; until the list knows its model, or if its tokens were not told either, its cost is unknown
and every sum it belongs to says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from towpath.core.encoding import plain
from towpath.core.errors import EncodingError

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Of one model, in cents for a million tokens."""

    input_per_million_cents: float
    output_per_million_cents: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.input_per_million_cents + tokens_out * self.output_per_million_cents) / _MILLION


@dataclass(slots=True)
class Usage:
    """Calls of one model, added up."""

    model: str = ""
    """Empty if nobody told."""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_cents: float = 0.0
    """What the priced calls cost together."""
    priced_calls: int = 0
    unpriced_in: int = 0
    """The part of the tokens that came without a price."""
    unpriced_out: int = 0
    unmeasured_calls: int = 0
    """Calls that came with neither a price nor tokens: no price list can help them."""

    def add(self, other: Usage) -> None:
        for name in SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))


SUMS = tuple(item.name for item in fields(Usage) if item.name != "model")


def call(model: str | None, tokens_in: int | None, tokens_out: int | None, cost_cents: float | None) -> Usage | None:
    """One call as it was metered; None if nothing was told about it."""
    if model is None and tokens_in is None and tokens_out is None and cost_cents is None:
        return None
    if cost_cents is not None and not math.isfinite(cost_cents):
        raise EncodingError(f"the cost of a call must be a number of cents or None, got {cost_cents!r}")
    used = Usage(plain(model or "", 200), 1, tokens_in or 0, tokens_out or 0)
    if cost_cents is not None:
        used.cost_cents, used.priced_calls = cost_cents, 1
    elif tokens_in is None and tokens_out is None:
        used.unmeasured_calls = 1
    else:
        used.unpriced_in, used.unpriced_out = used.tokens_in, used.tokens_out
    return used


@dataclass(frozen=True, slots=True)
class Cost:
    """`cents` is the sum of what is known, None if nothing is; `unpriced` tells that something is not in it."""

    cents: float | None
    unpriced: bool


NOTHING = Cost(None, unpriced=False)


def cost(used: Usage, price: Price | None) -> Cost:
    missing = used.calls - used.priced_calls - used.unmeasured_calls
    cents = used.cost_cents if used.priced_calls else None
    if missing and price is not None:
        cents = (cents or 0.0) + price.of(used.unpriced_in, used.unpriced_out)
    return Cost(cents, unpriced=used.unmeasured_calls > 0 or (missing > 0 and price is None))


def total(usages: Iterable[Usage], prices: Mapping[str, Price]) -> Cost:
    """The cost of several models together."""
    cents: float | None = None
    unpriced = False
    for used in usages:
        part = cost(used, prices.get(used.model))
        cents = cents if part.cents is None else (cents or 0.0) + part.cents
        unpriced = unpriced or part.unpriced
    return Cost(cents, unpriced)
