"""Something more in the same transaction: what a caller adds to a unit that is not its own, such as a line in a log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from towpath.store.contract import Tx, Unit

T = TypeVar("T")

Also = Callable[[Tx, T], Awaitable[object]]
"""Told what the unit came to. Like the unit itself it awaits nothing but the transaction, and may be run again."""


def together(unit: Unit[T], also: Also[T] | None) -> Unit[T]:
    """One unit of two: both are committed, or neither."""
    if also is None:
        return unit

    async def both(tx: Tx) -> T:
        outcome = await unit(tx)
        await also(tx, outcome)
        return outcome

    return both
