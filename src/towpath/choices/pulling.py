"""The operation that fetches a model to the machine of the worker that runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from towpath.core.errors import ConfigurationError, Fatal, LeaseLost
from towpath.engine.running.bridge import SyncContext
from towpath.models.inventory import size_of
from towpath.models.pulling import pull as fetch
from towpath.models.settings import ModelSettings

PULL, QUEUE = "models.pull", "models"


@dataclass(slots=True)
class Asked:
    """The payload of models.pull."""

    model: str
    force: bool = False


class _Stopped(Exception):
    """Somebody has cancelled it: what is on its way is not kept."""


def pull(settings: ModelSettings, ctx: SyncContext, asked: Asked) -> dict[str, Any]:
    """What is there already is not fetched again, so that a second attempt goes on with the files that are missing."""
    told = _Progress(ctx, size_of(asked.model))
    try:
        folder = fetch(settings, asked.model, force=asked.force, report=told)
    except ConfigurationError as error:
        message, _, remedy = str(error).partition("; ")
        raise Fatal(message, remedy=remedy or None) from None
    except _Stopped:
        raise LeaseLost("it was cancelled") from None
    return {"model": asked.model, "bytes": sum(path.stat().st_size for path in folder.iterdir() if path.is_file())}


class _Progress:
    """Bytes of all files together, as far as it is known how many there are."""

    def __init__(self, ctx: SyncContext, whole: int | None) -> None:
        self._ctx, self._whole = ctx, whole
        self._here: dict[str, int] = {}

    def __call__(self, name: str, here: int, whole: int | None) -> None:
        if self._ctx.cancelled:
            raise _Stopped
        self._here[name] = here
        done = sum(self._here.values())
        self._ctx.progress(done, None if self._whole is None else max(done, self._whole), f"fetching {name}")
