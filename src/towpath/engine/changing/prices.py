"""`app.prices`: the price list, read and replaced."""

from __future__ import annotations

import math
from collections.abc import Mapping

from towpath.core.errors import SchemaInvalid
from towpath.core.usage import Price
from towpath.engine.asking.prices import get_prices
from towpath.engine.registry import check_label
from towpath.store.also import Also, together
from towpath.store.contract import Store, Tx

MOST_PRICES = 1000


class Prices:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self) -> dict[str, Price]:
        return await self._store.read(get_prices)

    async def put(self, prices: Mapping[str, Price], *, also: Also[None] | None = None) -> None:
        """Replaces the whole list. It counts at once, also for what was used before. `also` is part of the transaction."""
        if len(prices) > MOST_PRICES:
            raise SchemaInvalid(f"a price list has at most {MOST_PRICES:,} models, got {len(prices):,}", path="prices")
        for model, price in prices.items():
            check_label("model", model)
            for name in ("input_per_million_cents", "output_per_million_cents"):
                value = getattr(price, name)
                if not (math.isfinite(value) and value >= 0):
                    raise SchemaInvalid(f"must be zero or more cents, got {value!r}", path=f"{model}.{name}")

        async def unit(tx: Tx) -> None:
            await tx.execute("drop_prices")
            for model, price in sorted(prices.items()):
                await tx.execute(
                    "put_price",
                    model=model,
                    input_per_million_cents=price.input_per_million_cents,
                    output_per_million_cents=price.output_per_million_cents,
                    now=tx.now,
                )

        await self._store.run(together(unit, also))
