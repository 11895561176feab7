"""The app that the browser's tests look at. Its operations wait for the test, fail as they are told, and repeat what they
are given."""

import asyncio
from collections import defaultdict
from typing import Any

from pydantic import BaseModel, Field

from towpath import App, Context, Fatal, SchemaInvalid


class Load(BaseModel):
    miles: int = Field(4, ge=1, le=1000, description="How far it goes.")


class Bridge(BaseModel):
    name: str = Field(min_length=2, max_length=40)
    height: float = Field(gt=0, le=10, description="In metres.")


class Works:
    """`haul` moves when a test says `go`; `mend` fails for a low bridge; `say` answers what it is told, and `paint` only
    takes one colour; `whistle` takes nothing."""

    def __init__(self, app: App) -> None:
        self._miles: dict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(0))
        self._lifted: set[str] = set()
        app.operation("haul", queue="canal", public=True)(self.haul)
        app.operation("mend", queue="bridges", public=True)(self.mend)
        app.operation("say", queue="bridges", public=True)(self.say)
        app.operation("paint", queue="bridges", public=True)(self.paint)
        app.operation("whistle", queue="bridges", public=True)(self.whistle)

    def go(self, job_id: str, miles: int = 1) -> None:
        for _ in range(miles):
            self._miles[job_id].release()

    def lift(self, bridge: str) -> None:
        """From now on boats get under this one."""
        self._lifted.add(bridge)

    async def haul(self, ctx: Context, load: Load) -> Any:
        """Takes a load along the canal, mile by mile."""
        for mile in range(1, load.miles + 1):
            await self._miles[ctx.id].acquire()
            await ctx.emit("mile.passed", f"mile {mile} is behind us")
            await ctx.progress(mile, load.miles)
        return {"arrived": True, "miles": load.miles}

    async def mend(self, ctx: Context, bridge: Bridge) -> Any:
        """Mends a bridge that is high enough."""
        if bridge.height < 3 and bridge.name not in self._lifted:
            raise Fatal("no boat gets under this bridge", remedy="give it at least 3 metres")
        return {"mended": bridge.name}

    async def say(self, ctx: Context, words: Any) -> Any:
        """Answers what it is given."""
        await ctx.emit("said", str(words))
        return words

    async def paint(self, ctx: Context, colour: Any) -> Any:
        """Paints a boat green."""
        if colour != "green":
            raise SchemaInvalid(f"there is no paint of the colour {colour!r}")
        return colour

    async def whistle(self, ctx: Context) -> str:
        """Lets everybody know."""
        return "tweet"
