"""The app that the server's tests serve: operations of every kind, some public."""

import asyncio
from typing import Any

from pydantic import BaseModel, Field

from tests.engine.working import Gate
from towpath import App, Context, Deferred, Fatal, JobRef


class Greeting(BaseModel):
    name: str = Field(min_length=1, max_length=100)
    times: int = Field(1, ge=1, le=10)


class Following(BaseModel):
    after: JobRef
    others: list[JobRef] = []


class Count(BaseModel):
    children: int = Field(3, ge=0, le=50)
    fail: bool = False


class Shop:
    """Its operations, and the gate that holds `hold` until a test lets go."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.gate = Gate()
        app.operation("greet", queue="front", public=True)(self.greet)
        app.operation("secret", queue="front")(self.secret)
        app.operation("follow", queue="front", public=True)(self.follow)
        app.operation("hold", queue="back", public=True)(self.hold)
        app.operation("stubborn", queue="back", public=True)(self.stubborn)
        app.operation("break", queue="back", public=True)(self.break_)
        app.operation("fan", queue="back", public=True)(self.fan)
        app.operation("wait", queue="back", public=True)(self.wait)
        app.operation("long", queue="back", public=True)(self.long)
        app.schedule("nightly", "0 3 * * *", "greet", {"name": "night"}, tenant="north")
        app.schedule("weekly", "0 3 * * 1", "greet", {"name": "week"}, tenant="south")

    async def greet(self, ctx: Context, greeting: Greeting) -> Any:
        """Says hello."""
        await ctx.emit("greeting.said", f"hello {greeting.name}")
        await ctx.emit("greeting.odd", "was that loud?", level="warning")
        return {"said": [f"hello {greeting.name}"] * greeting.times}

    async def secret(self, ctx: Context) -> None: ...

    async def follow(self, ctx: Context, following: Following) -> Any:
        return following.model_dump()

    async def hold(self, ctx: Context, payload: Any) -> Any:
        await self.gate.wait()
        return payload

    async def stubborn(self, ctx: Context, payload: Any) -> Any:
        """Does not let itself be interrupted before the gate opens."""
        waiting = asyncio.ensure_future(self.gate.wait())
        while not waiting.done():
            try:
                await asyncio.shield(waiting)
            except asyncio.CancelledError:
                continue
        return payload

    async def break_(self, ctx: Context, payload: Any) -> Any:
        raise Fatal(f"the {payload} is broken", remedy="mend it")

    async def fan(self, ctx: Context, count: Count) -> Any:
        operation = "break" if count.fail else "greet"
        payloads = [{"name": f"child {number}"} for number in range(count.children)]
        await ctx.spawn(operation, payloads)
        return Deferred()

    async def wait(self, ctx: Context, payload: Any) -> Any:
        return await ctx.wait_for("go", timeout=3600)

    async def long(self, ctx: Context, size: int) -> Any:
        return "x" * size
