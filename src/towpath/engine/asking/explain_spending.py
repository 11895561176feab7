"""Why a job waits for money."""

from __future__ import annotations

from typing import TYPE_CHECKING

from towpath.core.records import Job
from towpath.store import spending
from towpath.store.contract import Tx

if TYPE_CHECKING:
    from towpath.engine.asking.explain import Explanation

_OF = {spending.TENANT: "its tenant", spending.RUN: "this run"}
_IN = {spending.MONTH: " this month", spending.EVER: ""}


async def tell_of_money(tx: Tx, job: Job, told: Explanation) -> None:
    said = [
        f"{_OF[limit.scope]} may spend {limit.cents:g} cents{_IN[limit.period]}, and {limit.spent:g} are spent or held back"
        for limit in await spending.standing(tx, job)
    ]
    told.sentence = f"it waits for money: {'; '.join(said) or 'its limit was just taken away'}"
    told.remedy = "raise the limit, and it goes on by itself"
