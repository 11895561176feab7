"""A demonstration from its beginning to Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable

from towpath.cli.data import options_for
from towpath.cli.demo.directing import Director
from towpath.cli.demo.stage import Stage, missing_stand_ins
from towpath.cli.demo.telling import Teller
from towpath.cli.demo.watching import Watch
from towpath.engine import example
from towpath.engine.app import App


class Show:
    def __init__(self, app: App, stage: Stage, speed: float, say: Callable[[str], object]) -> None:
        from towpath.server import attach

        self._say, self._missing = say, missing_stand_ins()
        stage.register(app)
        attach(app)
        example.declare_demonstration(app)
        teller = Teller(say, options_for(app.url), stage.newest)
        self._director = Director(app, stage, Watch(app, teller.changed), speed, teller)

    async def prepare(self) -> None:
        removed = await self._director.prepare()
        if removed:
            batches = "1 batch" if removed == 1 else f"{removed} batches"
            self._say(f"removed {batches} of the last demonstration that had not ended: the providers have forgotten them")

    async def play(self) -> None:
        for name, remedy in self._missing.items():
            self._say(f"{name} is left out, because its library is not installed: {remedy}")
        await self._director.play(without=self._missing)
