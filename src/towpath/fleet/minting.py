"""The URLs of an attempt: signed when it is sent, and again when they end before it does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from towpath import App, ConfigurationError
from towpath.fleet.messages import HandedTask
from towpath.fleet.names import HERE, control_key, output_key
from towpath.fleet.records import Dispatch, Task
from towpath.fleet.secrets import GET, PUT, Link, task_secret
from towpath.fleet.storage import storage_of


@dataclass(frozen=True, slots=True)
class Minted:
    get_url: str
    put_url: str
    control_url: str | None
    until: float


async def mint(app: App, task: Task, dispatch: Dispatch, now: datetime, base_url: str = "") -> Minted:
    """`base_url` is where workers reach this server, for links of our own."""
    seconds = app.settings.fleet_url_seconds
    until = now.timestamp() + seconds
    link = Link(base_url or app.settings.base_url, dispatch.link_key, task.id, dispatch.attempt)
    source, target = storage_of(app, task.source), storage_of(app, task.target)
    get_url = await source.sign(task.object_key, GET, seconds)
    put_url = await target.sign(output_key(task.target, task.id, dispatch.attempt), PUT, seconds)
    if (get_url is None or put_url is None) and not link.base_url:
        raise ConfigurationError(
            "remote workers cannot reach the blob store of this installation without a server: set TOWPATH_BASE_URL to "
            "where they reach it, or keep blobs in a bucket"
        )
    control = None
    if HERE not in (dispatch.route, task.target):
        # It has to outlive the others: by it a worker gets fresh ones.
        lasts = max(seconds, (dispatch.deadline - now).total_seconds())
        control = await target.sign(control_key(task.target, task.id, dispatch.attempt), GET, lasts)
    return Minted(get_url or link.url(GET, until), put_url or link.url(PUT, until), control, until)


def message_of(task: Task, dispatch: Dispatch, minted: Minted) -> HandedTask:
    return HandedTask(
        task=task.id, attempt=dispatch.attempt, operation=task.operation, settings=task.settings, name=task.name,
        size=task.size, etag=task.etag, sha256=task.sha256, get_url=minted.get_url, put_url=minted.put_url,
        control_url=minted.control_url, urls_until=minted.until, deadline=dispatch.deadline.timestamp(),
        secret=task_secret(dispatch.link_key, task.id, dispatch.attempt),
    )  # fmt: skip
