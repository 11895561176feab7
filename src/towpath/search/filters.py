"""Which sources are searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from towpath import Reading, SchemaInvalid


@dataclass(frozen=True, slots=True)
class Filter:
    """Everything that is given has to hold: the kind, the ids of that kind, every tag, and an entity as (type, key)."""

    kind: str | None = None
    ids: Sequence[str] | None = None
    tags: Sequence[str] = ()
    entity: tuple[str, str] | None = None

    async def sources(self, now: Reading, tenant: str) -> list[int] | None:
        """Their numbers; None for all."""
        wanted: list[set[int]] = []
        if self.ids is not None and self.kind is None:
            raise SchemaInvalid(
                "ids are told apart by kind, and none was given", path="kind", remedy="name the kind of source"
            )
        if self.ids is not None:
            wanted.append(await _numbers(now, "search_sources_by_id", tenant=tenant, kind=self.kind, ids=list(self.ids)))
        elif self.kind is not None:
            wanted.append(await _numbers(now, "search_sources_of_kind", tenant=tenant, kind=self.kind))
        wanted += [await _numbers(now, "search_sources_tagged", tenant=tenant, tag=tag) for tag in self.tags]
        if self.entity is not None:
            kind, key = self.entity
            wanted.append(await _numbers(now, "search_sources_mentioning", tenant=tenant, type=kind, key=key))
        return sorted(set.intersection(*wanted)) if wanted else None


async def _numbers(now: Reading, query: str, **params: object) -> set[int]:
    return {row["number"] for row in await now.query(query, **params)}
