"""Settings that are kept in the database: the price list."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import Request

from towpath.core.usage import Price as EnginePrice
from towpath.engine.app import App
from towpath.http import bodies
from towpath.http.audit import audited, note
from towpath.http.policy import Admin
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.server.schemas.settings import Price, Prices

router = Router(prefix="/api/settings", tags=["settings"])
bodies.large("PUT", "/api/settings/prices")


@router.get("/prices", operation_id="get_prices")
async def get_prices(_principal: Admin, app: Engine) -> Prices:
    """What models cost, for calls that did not report a price of their own."""
    return await _prices(app)


@router.put("/prices", operation_id="set_prices")
async def set_prices(_principal: Admin, app: Engine, request: Request, asked: Prices) -> Prices:
    """Replaces the whole list. It counts at once, also for what was used before."""
    prices = {
        model: EnginePrice(price.input_per_million_cents, price.output_per_million_cents)
        for model, price in asked.root.items()
    }
    await app.prices.put(prices, also=audited(request, lambda _: note("prices.set", models=len(prices))))
    return await _prices(app)


async def _prices(app: App) -> Prices:
    return Prices({model: Price(**asdict(price)) for model, price in (await app.prices.get()).items()})
