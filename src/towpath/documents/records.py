"""Rows of this slice as Python values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from towpath import Row, State, from_json, moment


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job that is gone had ended."""

    job_id: str
    state: State
    error: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Run:
    id: str
    tenant: str
    lane: str
    kind: str
    title: str
    settings: dict[str, Any]
    priority: str
    count: int | None
    created_by: str | None
    creator: str | None
    created_at: datetime
    ended: Ended | None = None


@dataclass(frozen=True, slots=True)
class Item:
    id: str
    run_id: str
    tenant: str
    number: int
    name: str
    asset_id: str | None
    address: str | None
    source: str
    settings: dict[str, Any] | None
    document_id: str | None
    outcome: dict[str, Any] | None
    ended: Ended | None = None


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    tenant: str
    source: str
    name: str
    title: str
    kind: str
    media_type: str
    language: str | None
    unit: str
    method: str
    pages: int
    characters: int
    passages: int
    embedded: str | None
    """The model that made its vectors; None: it is found by words only."""
    bytes: int
    sha256: str
    asset_id: str
    own_asset: bool
    address: str | None
    item_id: str
    run_id: str
    settings: dict[str, Any]
    warnings: list[str]
    made: dict[str, Any]
    fingerprint: str
    indexed: str | None
    content: str
    as_of: str
    created_at: datetime
    updated_at: datetime

    @property
    def is_indexed(self) -> bool:
        return self.indexed is not None


def run_from(row: Row) -> Run:
    return Run(
        row["id"], row["tenant"], row["lane"], row["kind"], row["title"], from_json(row["settings"]), row["priority"],
        row["count"], row["created_by"], row["creator"], moment(row["created_at"]), _ended_from(row),
    )  # fmt: skip


def item_from(row: Row) -> Item:
    return Item(
        row["id"], row["run_id"], row["tenant"], row["number"], row["name"], row["asset_id"], row["address"], row["source"],
        from_json(row["settings"]), row["document_id"], from_json(row["outcome"]), _ended_from(row),
    )  # fmt: skip


def document_from(row: Row) -> Document:
    return Document(
        row["id"], row["tenant"], row["source"], row["name"], row["title"], row["kind"], row["media_type"], row["language"],
        row["unit"], row["method"], row["pages"], row["characters"], row["passages"], row["embedded"], row["bytes"],
        row["sha256"], row["asset_id"], bool(row["own_asset"]), row["address"], row["item_id"], row["run_id"],
        from_json(row["settings"]), from_json(row["warnings"]), from_json(row["made"]),
        row["fingerprint"], row["indexed"], row["content"], row["as_of"],
        moment(row["created_at"]), moment(row["updated_at"]),
    )  # fmt: skip


def _ended_from(row: Row) -> Ended | None:
    if row["last_job"] is None:
        return None
    return Ended(row["last_job"], State(row["last_state"]), from_json(row["last_error"]))
