"""Transitions of many jobs in one transaction, or one by one if one of them makes that fail."""

from __future__ import annotations

import logging

from towpath.core.transitions import Transition
from towpath.engine.services import Services
from towpath.store import ledger

log = logging.getLogger("towpath.janitor")


async def one_by_one_if_needed(services: Services, asked: list[Transition]) -> int:
    """Answers how many happened: one bad row must not hold up the others."""
    if not asked:
        return 0
    try:
        verdicts = await services.store.run(lambda tx: ledger.apply(tx, asked))
    except Exception as error:
        if len(asked) == 1:
            log.error("%s of job %s failed: %s", asked[0].verb, asked[0].job_id, error)
            return 0
        return sum([await one_by_one_if_needed(services, [transition]) for transition in asked])
    return sum(verdict is None for verdict in verdicts)
