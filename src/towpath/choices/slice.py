"""What choices bring to an app: their tables, and the operation that pulls models."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from typing import Any

from towpath.choices.overlay import settings_of
from towpath.choices.pulling import PULL, QUEUE, Asked, pull
from towpath.config import Settings
from towpath.core.errors import ConfigurationError, Fatal
from towpath.core.retry import Retry
from towpath.engine.app import App
from towpath.engine.running.bridge import SyncContext
from towpath.engine.running.context import Context
from towpath.store.migrating import Slice

SLICE = Slice("choices", files("towpath.choices") / "migrations", files("towpath.choices") / "queries")
_CHOICES = "choices"
_HOUR = 3600.0


def attach(app: App) -> None:
    """Before the app is opened, in servers and in workers; twice is once."""
    if not app.add_slice(SLICE):
        return

    def pulling(ctx: SyncContext, asked: Asked) -> dict[str, Any]:
        return pull(app.settings, ctx, asked)

    app.resource(_CHOICES)(partial(Choices, app))
    app.operation(PULL, queue=QUEUE, retry=Retry(limit=2), timeout=6 * _HOUR)(pulling)


class Choices:
    """What operations ask for their settings."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def settings(self, speech: str | None) -> Settings:
        try:
            return await settings_of(self._app, speech=speech, with_keys=True)
        except ConfigurationError as error:  # a key that cannot be read: trying again would not help
            message, _, remedy = str(error).partition("; ")
            raise Fatal(message, remedy=remedy or None) from None


async def settings_in(ctx: Context, *, speech: str | None = None) -> Settings:
    """What counts at this moment, with the keys. Workers of other processes learn of choices by the database, too."""
    choices: Choices = await ctx.resources.get(_CHOICES)
    return await choices.settings(speech)
