"""The price list: what tokens cost where a call did not say so itself."""

from __future__ import annotations

from towpath.core.usage import Price
from towpath.store.contract import Tx


async def get_prices(tx: Tx) -> dict[str, Price]:
    rows = await tx.fetch("prices")
    return {row["model"]: Price(row["input_per_million_cents"], row["output_per_million_cents"]) for row in rows}
