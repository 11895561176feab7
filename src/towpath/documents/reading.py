"""The operation of one item: every step in its turn, each on record when it is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from towpath import App, Context, Fatal, Transaction, assets, to_json
from towpath.documents import stored
from towpath.documents.machine import Machine
from towpath.documents.names import FETCHED, INDEXED, PERSISTED
from towpath.documents.options import options_from
from towpath.documents.pipeline import Pipeline
from towpath.documents.rooms import Rooms
from towpath.documents.steps.fetching import fetch
from towpath.documents.steps.indexing import index
from towpath.documents.steps.persisting import persist
from towpath.documents.work import Work
from towpath.outbound.sources import shown

ATTEMPTS = 5


@dataclass(slots=True)
class Asked:
    item_id: str


class Reading:
    """The operation, bound to its app."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def read(self, ctx: Context, asked: Asked) -> dict[str, Any]:
        item = await stored.item(ctx, asked.item_id)
        run = await stored.run_or_none(ctx, item.run_id) if item is not None else None
        if item is None or run is None:
            raise Fatal("the run that this belongs to was deleted")
        work = Work(self._app, ctx, run, item, options_from(run.settings, item.settings))
        machine = Machine(work)
        await machine.run_step(FETCHED, fetch)
        async with self._app.part(Rooms).of(work):
            await self._steps(machine, work)
        return await self._done(work)

    async def _steps(self, machine: Machine, work: Work) -> None:
        extracting, between = self._app.part(Pipeline).served(work.options)
        await machine.run_parallel_steps([extracting])
        await machine.run_parallel_steps(between)
        await machine.run_step(PERSISTED, persist)
        await machine.run_step(INDEXED, index)

    async def _done(self, work: Work) -> dict[str, Any]:
        persisted = work.output(PERSISTED)
        if persisted["left"]:  # a file that was fetched again, or the one before it
            await assets.delete(self._app, work.tenant, persisted["left"])
        reused = [name for name, output in work.outputs.items() if isinstance(output, dict) and output.get("reused")]
        outcome = {
            "reused": reused, "unchanged": persisted["unchanged"], "superseded": persisted["superseded"],
            "passages": work.output(INDEXED)["passages"],
        }  # fmt: skip

        async def unit(tx: Transaction) -> None:
            await tx.change(
                "document_item_outcome", id=work.item.id, document_id=persisted["document_id"], outcome=to_json(outcome)
            )
            if work.item.address is not None:  # the document has it whole; here it is only shown from now on
                await tx.change("document_item_forget_address", id=work.item.id, address=shown(work.item.address))

        await work.ctx.transact(unit)
        return {"document_id": persisted["document_id"]} | outcome
