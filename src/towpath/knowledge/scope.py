"""Where something is looked for: in everything of a tenant, or in a part of it."""

from __future__ import annotations

from dataclasses import dataclass

from towpath import SchemaInvalid
from towpath.knowledge.names import DOCUMENT, RECORDING
from towpath.search import Filter


@dataclass(frozen=True, slots=True)
class Scope:
    """All that is given has to hold. `entity` is a type and a key, such as `person:helen brandt`."""

    run: str | None = None
    type: str | None = None
    entity: str | None = None
    kind: str | None = None
    document_id: str | None = None
    recording_id: str | None = None

    @property
    def source(self) -> tuple[str, str] | None:
        """The one thing that is looked into, as the index knows it."""
        if self.document_id is not None and self.recording_id is not None:
            raise SchemaInvalid("one of document_id and recording_id can be given", path="recording_id")
        if self.recording_id is not None:
            return RECORDING, self.recording_id.lower()
        return None if self.document_id is None else (DOCUMENT, self.document_id.lower())

    def filter(self) -> Filter | None:
        """None: all of it."""
        tags = [f"{name}:{value.lower()}" for name, value in (("run", self.run), ("type", self.type)) if value is not None]
        kind, ids = (self.kind, None) if self.source is None else (self.source[0], [self.source[1]])
        if self.kind not in (None, kind):
            raise SchemaInvalid(f"a {kind} is looked into, and {self.kind}s were asked for", path="kind")
        if not tags and kind is None and self.entity is None:
            return None
        return Filter(kind=kind, ids=ids, tags=tags, entity=None if self.entity is None else _entity(self.entity))


def _entity(text: str) -> tuple[str, str]:
    kind, colon, key = text.partition(":")
    if not colon or not key.strip():
        raise SchemaInvalid(
            f"an entity is its type and its key with a colon between them, got {text[:100]!r}", path="entity",
            remedy="take both from the list of entities, such as person:helen brandt",
        )  # fmt: skip
    return kind.strip().lower(), key.strip()
