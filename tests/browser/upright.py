"""An app for `towpath up`: one operation that does not end by itself, and one that ends at once."""

import asyncio
from typing import Any

from towpath import App, Context


def make_app(url: str | None = None) -> App:
    app = App(url)
    app.operation("moor", public=True)(moor)
    app.operation("say", public=True)(say)
    return app


async def moor(ctx: Context) -> None:
    """Stays where it is."""
    await asyncio.Event().wait()


async def say(ctx: Context, words: Any) -> Any:
    """Answers what it is given."""
    return words


app = make_app()
