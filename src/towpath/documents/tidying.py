"""Sweeps results that no document is made of and no item needs any more."""

from __future__ import annotations

from datetime import timedelta

from towpath import App, Context, Row, Transaction

_YOUNG = timedelta(hours=1)
_TOGETHER = 200


async def tidy(app: App, ctx: Context) -> dict[str, int]:
    swept = 0
    while True:

        async def unit(tx: Transaction) -> list[Row]:
            return list(await tx.query("document_results_sweep", before=tx.now - _YOUNG, limit=_TOGETHER))

        rows = await ctx.transact(unit)
        for row in rows:
            if row["blob"] is not None:
                await app.blobs.delete(row["blob"])
        swept += len(rows)
        if len(rows) < _TOGETHER:
            return {"swept": swept}
