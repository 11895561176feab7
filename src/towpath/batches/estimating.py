"""What a completion is going to cost, as far as the price list and the requests tell."""

from __future__ import annotations

from collections.abc import AsyncIterable, Mapping, Sequence
from dataclasses import dataclass

from towpath import Price
from towpath.batches.merging import Tally
from towpath.batches.reading import Tokens, Unfit, guessed, parse

MOST_READ = 8 * 1024 * 1024
"""What is looked at of an input."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """`cost_cents` is None if the list has no price for one of the models; `whole` is False if only a part was read."""

    requests: int
    invalid: int
    tokens_in: int
    tokens_out: int
    cost_cents: float | None
    unknown_models: list[str]
    whole: bool


def cents_for(models: Sequence[str], tokens: Sequence[Tokens], prices: Mapping[str, Price]) -> float | None:
    """Of those models that have a price; None if none has."""
    known = [prices[m].of(t.tokens_in, t.tokens_out) for m, t in zip(models, tokens, strict=True) if m in prices]
    return sum(known) if known else None


def cost_of(tallies: Sequence[Tally], prices: Mapping[str, Price]) -> float | None:
    """What it cost; None if nobody can say of one of the models."""
    cents = 0.0
    for tally in tallies:
        if not tally.ok:
            continue
        if tally.model not in prices or tally.unmeasured:
            return None
        cents += prices[tally.model].of(tally.tokens_in, tally.tokens_out)
    return cents


async def estimate(
    lines: AsyncIterable[bytes], size: int | None, models: Sequence[str], prices: Mapping[str, Price]
) -> Estimate:
    """From the first lines of an input of that many bytes; the rest is taken to be like them."""
    read = requests = invalid = 0
    one = Tokens()
    whole = True
    async for line in lines:
        if read >= MOST_READ:
            whole = False
            break
        read += len(line) + 1
        if not line.strip():
            continue
        try:
            told = guessed(parse(line).body)
        except Unfit:
            invalid += 1
            continue
        requests += 1
        one.tokens_in += told.tokens_in
        one.tokens_out += told.tokens_out
    more = 1.0 if whole or not size else size / read
    tokens_in, tokens_out = round(one.tokens_in * more), round(one.tokens_out * more)
    unknown = [model for model in models if model not in prices]
    each = [Tokens(tokens_in, tokens_out) for _ in models]
    return Estimate(
        round(requests * more), round(invalid * more), tokens_in * len(models), tokens_out * len(models),
        None if unknown else cents_for(models, each, prices), unknown, whole,
    )  # fmt: skip
