"""What is to be done about a turn that takes more than one commit."""

from __future__ import annotations

import logging

from towpath.store.contract import Claim, ClaimedBatch, Store

log = logging.getLogger("towpath.store")


async def claim_after(store: Store, claim: Claim) -> ClaimedBatch:
    """The claim of a turn whose settles have been committed: whoever asked must hear of them, whatever comes of it. The next
    claim will say what is wrong."""
    try:
        return await store.claim(claim)
    except Exception as error:  # it would take the settles with it, which are done
        log.warning("claiming from %s failed after a settle: %s", claim.queue, error)
        return ClaimedBatch(claim.queue)
