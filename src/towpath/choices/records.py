"""What people have chosen, as Python values, and how models are called."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from towpath.core.encoding import decode
from towpath.core.moments import moment
from towpath.store.contract import Row

Kind = Literal["speech", "chat"]
KINDS: tuple[Kind, ...] = ("speech", "chat")
ENVIRONMENT = "environment"
"""What the environment's settings say, whatever was chosen since."""
NONE = "none"
"""No chat service, whatever the environment's settings say."""
SERVICE = "service/"


@dataclass(frozen=True, slots=True)
class Service:
    """Others call it by its name. `secret` is its key as it is kept: encrypted."""

    name: str
    kind: Kind
    url: str
    model: str
    languages: tuple[str, ...] | None
    created_at: datetime
    changed_at: datetime
    secret: str | None = field(default=None, repr=False)

    @property
    def reference(self) -> str:
        return f"{SERVICE}{self.name}"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Everything that people have chosen, as of one moment."""

    services: dict[str, Service]
    defaults: dict[str, str]
    """Of each kind for which there is one: how the model is called."""

    def service(self, reference: str, kind: str) -> Service | None:
        found = self.services.get(reference.removeprefix(SERVICE)) if reference.startswith(SERVICE) else None
        return found if found is not None and found.kind == kind else None

    def of_kind(self, kind: str) -> list[Service]:
        return [service for service in self.services.values() if service.kind == kind]


def service_from(row: Row) -> Service:
    languages = decode(row["languages"])
    return Service(
        row["name"], row["kind"], row["url"], row["model"], None if languages is None else tuple(languages),
        moment(row["created_at"]), moment(row["changed_at"]), row["secret"],
    )  # fmt: skip
