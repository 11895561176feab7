"""Spend limits of tenants."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from towpath.server.schemas.base import Answer, Request
from towpath.server.schemas.settings import Cents

Period = Literal["month", "ever"]


class SpendLimit(Answer):
    """What a tenant may spend, and what of it is gone."""

    tenant: str
    cents: float
    period: Annotated[Period, Field(description="In every month, or `ever`: altogether.")]
    spent_cents: Annotated[float, Field(description="In this month, or ever: spent, or held back for work under way.")]


class NewSpendLimit(Request):
    cents: Cents
    period: Period = "month"
