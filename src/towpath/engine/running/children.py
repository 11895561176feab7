"""The children of a gather, as the parent sees them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

from towpath.core.ids import FIRST_ID
from towpath.core.lifecycle import State
from towpath.core.records import Job

if TYPE_CHECKING:
    from towpath.engine.services import Services
    from towpath.store.contract import Tx

_PAGE = 500


class Children:
    """Counts at once, rows by page: ten thousand children are normal."""

    def __init__(self, services: Services, parent_id: str, group: str, counts: dict[str, int]) -> None:
        self._services, self._parent_id, self._group = services, parent_id, group
        self.counts = counts

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def succeeded(self) -> int:
        return self.counts.get(State.SUCCEEDED, 0)

    @property
    def partial(self) -> int:
        return self.counts.get(State.PARTIAL, 0)

    @property
    def failed(self) -> int:
        return self.counts.get(State.FAILED, 0) + self.counts.get(State.CANCELLED, 0)

    @property
    def all_ok(self) -> bool:
        return self.succeeded + self.partial == self.total

    def __len__(self) -> int:
        return self.total

    async def __aiter__(self) -> AsyncIterator[Job]:
        """The child jobs in the order of their payloads."""
        after = FIRST_ID
        while True:
            page = await self._services.store.read(partial(self._page, after=after))
            for job in page:
                yield job
            if len(page) < _PAGE:
                return
            after = page[-1].id

    async def _page(self, tx: Tx, after: str) -> list[Job]:
        return await tx.jobs("children_page", parent_id=self._parent_id, child_group=self._group, after=after, limit=_PAGE)

    async def results(self) -> list[Any]:
        """Each child's result in the order of the payloads; None for a child that has none."""
        return [await self._services.values.fetch(job.result_json) async for job in self]
