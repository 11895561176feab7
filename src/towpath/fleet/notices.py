"""The folders of buckets that orchestrators look after, as they are stored: a server that is told of an object has to know
what becomes of it."""

from __future__ import annotations

from dataclasses import asdict

from towpath import App, Transaction, from_json, to_json
from towpath.fleet.arrivals import Intake
from towpath.fleet.intake import Wanted
from towpath.fleet.storage import Place


async def remember(app: App, intake: Intake) -> None:
    told = {"output": asdict(intake.output), "work": intake.work, "wanted": asdict(intake.wanted), "suffix": intake.suffix}

    async def unit(tx: Transaction) -> None:
        await tx.change(
            "fleet_intake_put", bucket=intake.input.bucket, folder=intake.input.folder, tenant=intake.tenant,
            told=to_json(told), now=tx.now,
        )  # fmt: skip

    await app.transact(unit)


async def intakes_of(app: App) -> list[Intake]:
    found = []
    for row in await app.query("fleet_intakes"):
        told = from_json(row["told"])
        found.append(
            Intake(
                Place(row["bucket"], row["folder"]), Place(**told["output"]), told["work"], Wanted(**told["wanted"]),
                row["tenant"], told["suffix"],
            )
        )  # fmt: skip
    return found
