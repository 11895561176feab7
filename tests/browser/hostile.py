"""Texts that would do harm if a page took them for anything but text, in every place where somebody can put one."""

from typing import Any

from playwright.async_api import Page, expect
from pydantic import BaseModel, Field

from towpath import App, Context, Fatal, RateLimited

_ATTACK = "'><svg/class='planted'/onload=alert(1)><script>alert(2)</script>{{7*7}}"


def hostile(word: str) -> str:
    return f"{word}{_ATTACK}"


async def expect_harmless(page: Page, *words: str) -> None:
    """The words are there with all that was attached to them, as text; nothing of it became part of the page."""
    for word in words:
        await expect(page.get_by_text(hostile(word)).first).to_be_visible()
    await expect(page.locator(".planted, body script:not([src])")).to_have_count(0)


class Part(BaseModel):
    words: str = Field("nothing", title=hostile("title"), description=hostile("description"))


async def perform(ctx: Context, parts: dict[str, Any]) -> Any:
    """Puts each text where it is told."""
    await ctx.emit(parts["event"], parts["message"], fields={parts["field"]: parts["value"]})
    await ctx.step(parts["step"], _step, ctx, parts["model"])
    if "limit" in parts:
        raise RateLimited(parts["limit"], retry_after=3600, budget=parts["budget"])
    if "error" in parts:
        raise Fatal(parts["error"], remedy=parts["remedy"])
    return {parts["field"]: parts["result"]}


async def _step(ctx: Context, model: str) -> None:
    await ctx.meter(model=model, tokens_in=10, tokens_out=20)


async def described(ctx: Context, part: Part) -> str:
    return part.words


described.__doc__ = hostile("docstring")


def add_hostile(app: App) -> None:
    app.operation("perform", queue="stage", public=True)(perform)
    app.operation("described", queue="stage", public=True)(described)
    app.schedule("yearly", "0 3 1 1 *", "described", {"words": hostile("scheduled")}, tenant=hostile("planner"))
