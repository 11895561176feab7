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
class Task:
    id: str
    tenant: str
    operation: str
    settings: dict[str, Any]
    source: str
    object_key: str
    mark: str
    etag: str
    size: int | None
    target: str
    result_key: str
    route: str
    name: str
    asset_id: str | None
    created_by: str | None
    creator: str | None
    created_at: datetime
    result_bytes: int | None
    result_sha256: str | None
    ended: Ended | None = None
    sha256: str | None = None
    """Of its object, where that is known beforehand."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One time that a task was sent. `report` is what its worker says, `outcome` what is believed of it."""

    task_id: str
    attempt: int
    job_id: str
    tenant: str
    operation: str
    route: str
    link_key: str
    made_at: datetime
    sent_at: datetime | None
    deadline: datetime
    get_url: str | None
    put_url: str | None
    urls_until: datetime | None
    worker_id: str | None
    claimed_at: datetime | None
    heard_at: datetime | None
    lease_until: datetime
    sequence: int
    progress: float | None
    progress_total: float | None
    message: str | None
    report: dict[str, Any] | None
    reported_at: datetime | None
    outcome: str | None
    kind: str | None
    reason: str | None
    ended_at: datetime | None

    @property
    def open(self) -> bool:
        return self.ended_at is None

    @property
    def acknowledged(self) -> bool:
        return self.claimed_at is not None

    @property
    def last_change(self) -> datetime:
        times = (self.made_at, self.sent_at, self.claimed_at, self.heard_at, self.reported_at, self.ended_at)
        return max(one for one in times if one is not None)


@dataclass(frozen=True, slots=True)
class Worker:
    id: str
    name: str
    tenant: str | None
    via: str
    prefix: str | None
    created_by: str | None
    created_at: datetime
    revoked_at: datetime | None
    seen_at: datetime | None
    host: str | None
    version: str | None
    slots: int
    busy: int
    operations: list[str]


def task_from(row: Row) -> Task:
    return Task(
        row["id"], row["tenant"], row["operation"], from_json(row["settings"]), row["source"], row["object_key"],
        row["mark"], row["etag"], row["size"], row["target"], row["result_key"], row["route"], row["name"], row["asset_id"],
        row["created_by"], row["creator"], moment(row["created_at"]), row["result_bytes"], row["result_sha256"],
        None if row["last_job"] is None else Ended(row["last_job"], State(row["last_state"]), from_json(row["last_error"])),
        row["sha256"],
    )  # fmt: skip


def dispatch_from(row: Row) -> Dispatch:
    return Dispatch(
        row["task_id"], row["attempt"], row["job_id"], row["tenant"], row["operation"], row["route"], row["link_key"],
        moment(row["made_at"]), moment(row["sent_at"]), moment(row["deadline"]), row["get_url"], row["put_url"],
        moment(row["urls_until"]), row["worker_id"], moment(row["claimed_at"]), moment(row["heard_at"]),
        moment(row["lease_until"]), row["sequence"], row["progress"], row["progress_total"], row["message"],
        from_json(row["report"]), moment(row["reported_at"]), row["outcome"], row["kind"], row["reason"],
        moment(row["ended_at"]),
    )  # fmt: skip


def worker_from(row: Row) -> Worker:
    return Worker(
        row["id"], row["name"], row["tenant"], row["via"], row["prefix"], row["created_by"], moment(row["created_at"]),
        moment(row["revoked_at"]), moment(row["seen_at"]), row["host"], row["version"], row["slots"], row["busy"],
        row["operations"].split(),
    )  # fmt: skip
