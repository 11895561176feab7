"""Why a job waits for money."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from towpath.core.records import Job
from towpath.store import spending
from towpath.store.contract import Tx

if TYPE_CHECKING:
    from towpath.engine.asking.explain import Explanation

_OF = {spending.TENANT: "its tenant", spending.RUN: "this run"}
_IN = {spending.MONTH: " this month", spending.EVER: ""}


async def tell_of_money(tx: Tx, job: Job, told: Explanation) -> None:
    limits = await spending.standing(tx, job)
    said = [
        f"{_OF[limit.scope]} may spend {limit.cents:g} cents{_IN[limit.period]}, and {limit.spent:g} are spent or held back"
        for limit in limits
    ]
    told.sentence = f"it waits for money: {'; '.join(said) or 'its limit was just taken away'}"
    told.remedy = "raise the limit, and it goes on by itself"
    if any(limit.scope == spending.TENANT for limit in limits):
        told.remedy += f": towpath limits set {shlex.quote(job.tenant)} CENTS"
