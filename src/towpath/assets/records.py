"""Rows of assets and uploads as Python values."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from towpath import Row, moment
from towpath.assets.sender import Sender, sender_from

State = Literal["uploading", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of a tenant. `name` is what it was called where it came from: to be shown, never to be opened.

    `media_type` is what its content is, whatever was claimed; it, `kind` and `sha256` are empty until the file is ready.
    """

    id: str
    tenant: str
    name: str
    media_type: str
    kind: str
    bytes: int
    sha256: str
    blob_key: str
    state: State
    created_at: datetime
    created_by: str | None
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a tenant takes up, uploads under way included. A quota of 0 is none."""

    bytes: int
    assets: int
    quota: int


@dataclass(frozen=True, slots=True)
class Upload:
    """A file on its way to what it was sent for. It has the id of the asset it becomes; `result` is what its receiver made
    of it, `error` why it was refused."""

    id: str
    sender: Sender
    length: int
    received: int
    purpose: str
    options: dict[str, str]
    metadata: str
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    finished_at: datetime | None
    touched_at: datetime

    @property
    def tenant(self) -> str:
        return self.sender.tenant

    @property
    def complete(self) -> bool:
        return self.received == self.length


def asset_from(row: Row) -> Asset:
    return Asset(
        row["id"], row["tenant"], row["name"], row["media_type"], row["kind"], row["bytes"], row["sha256"], row["blob_key"],
        row["state"], moment(row["created_at"]), row["created_by"], json.loads(row["meta"]),
    )  # fmt: skip


def upload_from(row: Row) -> Upload:
    result, error = (json.loads(row[name]) if row[name] else None for name in ("result", "error"))
    return Upload(
        row["id"], sender_from(row["sender"]), row["length"], row["received"], row["purpose"], json.loads(row["options"]),
        row["metadata"], result, error, moment(row["finished_at"]), moment(row["touched_at"]),
    )  # fmt: skip
