"""Sends the batches: to all providers at once, to each one after the other, so that a fault strikes the batch it is for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from towpath.batches import intake, removing, stored
from towpath.batches.names import LOCAL, TRANSCRIPTION
from towpath.batches.status import IN_PROGRESS, PENDING
from towpath.batches.views import BatchView, views
from towpath.cli.demo.questions import lines_of
from towpath.cli.demo.scenes import POOR, POOR_MAY_SPEND, PRICES, SCENES, Scene
from towpath.cli.demo.sounds import inputs_of
from towpath.cli.demo.stage import Stage
from towpath.cli.demo.telling import Teller
from towpath.cli.demo.watching import Watch
from towpath.engine.app import App
from towpath.providers.simulator import Fault, Pace, Simulator

_BETWEEN = 4.0
_LOOKS = 3
_PAGE = 200
_NEEDS_SOMEBODY = ("budget", "submit_unknown")


class Director:
    def __init__(self, app: App, stage: Stage, watch: Watch, speed: float, teller: Teller) -> None:
        self._app, self._stage, self._watch, self._speed, self._teller = app, stage, watch, speed, teller

    async def prepare(self) -> int:
        """Prices, and the limit that one batch is above. What an earlier demonstration has not finished is removed, because
        its providers are gone; answers how many batches that were."""
        await self._app.prices.put({**await self._app.prices.get(), **PRICES})
        await self._app.spending.limit_tenant(POOR, POOR_MAY_SPEND)
        removed, before = 0, None
        while page := await stored.page(self._app, None, before=before, limit=_PAGE):
            for view in await views(self._app, page):
                if view.status in (PENDING, IN_PROGRESS):
                    removed += await removing.remove(self._app, view.batch)
            before = page[-1].id
        return removed

    async def play(self, without: Iterable[str]) -> None:
        """All scenes but those of providers that cannot be shown; then what comes of them is told until it is cancelled."""
        shown = [scene for scene in SCENES if scene.provider not in without]
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch.follow())
            await asyncio.gather(*(
                self._play([scene for scene in shown if scene.provider == provider])
                for provider in dict.fromkeys(scene.provider for scene in shown)
            ))  # fmt: skip
            self._teller.all_sent()

    async def _play(self, scenes: list[Scene]) -> None:
        for scene in scenes:
            await self._show(scene)
            await asyncio.sleep(_BETWEEN / self._speed)

    async def _show(self, scene: Scene) -> None:
        """Comes back when the provider has it, or has refused it, or somebody has to do something first."""
        simulator = None
        if scene.provider != LOCAL:
            simulator = await asyncio.to_thread(self._stage.simulator, scene.provider)
            simulator.pace = Pace(_LOOKS, max(scene.at_least, scene.seconds / self._speed))
            _arm(simulator, scene.faults)
        wanted = await self._wanted(scene)
        self._teller.sent(scene)
        batch_id, job_id = await intake.create(self._app, wanted, intake.Owner(scene.tenant))
        await self._watch.add(batch_id, job_id)
        await self._watch.until(batch_id, _is_placed)
        if simulator is not None:
            _arm(simulator, scene.later)

    async def _wanted(self, scene: Scene) -> intake.Wanted:
        if not scene.inputs:
            return intake.Wanted(scene.provider, scene.models, scene.title, lines=lines_of(scene))
        lines = intake.as_inputs(await inputs_of(self._app, scene))
        settings = {"locale": scene.locale} if scene.locale else {}
        return intake.Wanted(scene.provider, scene.models, scene.title, settings, lines=lines, task_type=TRANSCRIPTION)


def _arm(simulator: Simulator, faults: Iterable[Fault]) -> None:
    for fault in faults:
        simulator.arm(fault)


def _is_placed(view: BatchView) -> bool:
    if view.status not in (PENDING, IN_PROGRESS) or view.waiting_for in _NEEDS_SOMEBODY:
        return True
    return bool(view.ordered) and all(row.external_id is not None or row.state.ended for row in view.ordered)
