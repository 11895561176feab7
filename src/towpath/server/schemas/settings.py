"""Settings that are kept in the database."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, RootModel

from towpath.engine.changing.prices import MOST_PRICES
from towpath.server.schemas.base import Label, Request

Cents = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]


class Price(Request):
    """What a million tokens of a model cost, in cents."""

    input_per_million_cents: Cents
    output_per_million_cents: Cents


class Prices(RootModel[Annotated[dict[Label, Price], Field(max_length=MOST_PRICES)]]):
    """The price list, by model."""
