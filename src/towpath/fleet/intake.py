"""New tasks: the task and its job come to be in one transaction, or neither."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from towpath import App, SchemaInvalid, Transaction, assets, new_id, plain_text, to_json
from towpath.fleet.dispatching import check_attempts
from towpath.fleet.names import HERE, KIND, QUEUE, RUN, TRANSCRIBE_FILE, queue_of, result_key
from towpath.fleet.recovering import ensure_lane

_LONGEST_SETTINGS = 16 * 1024


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose it is. Without an account it is everybody's in the tenant, as what comes from a bucket."""

    tenant: str
    account_id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """One object and what is to be done with it."""

    operation: str = TRANSCRIBE_FILE
    settings: Mapping[str, Any] = field(default_factory=dict)
    max_attempts: int | None = None
    priority: int = 1


@dataclass(frozen=True, slots=True)
class Located:
    """Where the object lies and what tells its content from others, and where the result goes."""

    source: str
    object_key: str
    mark: str
    etag: str
    size: int | None
    target: str
    result_key: str
    route: str = HERE
    name: str = ""
    asset_id: str | None = None
    sha256: str | None = None


async def create(app: App, wanted: Wanted, asset_id: str, whose: Owner) -> tuple[str, str]:
    """Of an uploaded file, for workers that ask over HTTPS; answers the ids of the task and its job."""
    asset = await assets.get(app, whose.tenant, asset_id.lower())
    if asset.state != "ready":
        raise SchemaInvalid(f"the file {asset.id} is not ready yet", path="asset_id")
    check_wanted(wanted)
    await ensure_lane(app, QUEUE, whose.tenant)
    task_id = new_id()
    head = await app.blobs.head(asset.blob_key)
    at = Located(
        HERE, asset.blob_key, task_id, head.etag if head else "", asset.bytes, HERE, result_key(task_id),
        name=asset.name, asset_id=asset.id, sha256=asset.sha256 or None,
    )  # fmt: skip
    return task_id, await app.transact(lambda tx: add(tx, task_id, wanted, at, whose))


def check_wanted(wanted: Wanted) -> None:
    check_attempts(wanted.max_attempts)
    if len(to_json(dict(wanted.settings))) > _LONGEST_SETTINGS:
        raise SchemaInvalid(f"settings have at most {_LONGEST_SETTINGS // 1024} KiB as JSON", path="settings")


async def add(tx: Transaction, task_id: str, wanted: Wanted, at: Located, whose: Owner) -> str:
    """In the transaction of whoever has found the object; answers the job."""
    await tx.change(
        "fleet_task_add", id=task_id, tenant=whose.tenant, operation=wanted.operation,
        settings=to_json(dict(wanted.settings)), source=at.source, object_key=at.object_key, mark=at.mark, etag=at.etag,
        size=at.size, sha256=at.sha256, target=at.target, result_key=at.result_key, route=at.route,
        name=plain_text(at.name, 300), asset_id=at.asset_id, created_by=whose.account_id, creator=whose.name, now=tx.now,
    )  # fmt: skip
    options: dict[str, Any] = {} if wanted.max_attempts is None else {"max_attempts": wanted.max_attempts}
    return await tx.enqueue(
        RUN, {"task": task_id}, tenant=whose.tenant, queue=queue_of(at.source, at.target), priority=wanted.priority,
        subject=(KIND, task_id), key=task_id, **options,
    )  # fmt: skip
