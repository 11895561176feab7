"""What one stream wants to hear of."""

from __future__ import annotations

from dataclasses import dataclass

from towpath.engine.projections import DELETED, JOB

KINDS = frozenset({JOB, DELETED})


@dataclass(frozen=True, slots=True)
class Wanted:
    """`tenant` None is all of them; `job_id` is one job only, which whoever asks has been found to own. `kinds` are messages
    of jobs and of products; None is all of them."""

    tenant: str | None
    job_id: str | None = None
    kinds: frozenset[str] | None = None

    def takes(self, kind: str, tenant: str | None, about: str) -> bool:
        return (
            (self.kinds is None or kind in self.kinds)
            and (self.tenant is None or self.tenant == tenant)
            and (self.job_id is None or self.job_id == about)
        )
