"""towpath queues lane and lanes: a tenant's share of a queue."""

from __future__ import annotations

from typing import Annotated

import typer

from towpath.cli.auditing import noting
from towpath.cli.opening import opened, run
from towpath.cli.options import AsJson, Database, New, QueueName, finds_data
from towpath.cli.records import plain
from towpath.cli.screen import clean, console, say_json, table
from towpath.core.records import Lane


@finds_data
def lane(
    queue: QueueName,
    name: Annotated[str, typer.Argument(metavar="LANE", help="The tenant, or what was given as lane= at enqueue.")],
    *,
    weight: Annotated[
        float, typer.Option("--weight", help="Its share against the other lanes; 1 is the ordinary share.")
    ] = 1.0,
    slots: Annotated[
        int | None, typer.Option("--slots", min=0, help="At most this many of its jobs run at once.", show_default=False)
    ] = None,
    roots: Annotated[
        int | None,
        typer.Option("--roots", min=0, help="At most this many of its root jobs are open at once.", show_default=False),
    ] = None,
    new: New = False,
    database: Database = None,
) -> None:
    """Sets the share and the cap of one lane of a queue; what is not given goes back to its default.

    A new weight applies to new jobs. --slots counts running jobs; --roots counts jobs begun and not ended, so that the
    oldest upload is finished before the next is begun.

    \b
    Examples:
      towpath queues lane images alice --weight 3
      towpath queues lane images bob --slots 2
      towpath queues lane images bob
    """

    async def work() -> Lane:
        async with opened(database) as app:
            if not new:
                await app.queues.get(queue)
            line = await noting(app, "lane.set", f"{queue} {name}", weight=weight, max_slots=slots, max_roots=roots)
            return await app.queues.lane(queue, name, weight=weight, max_slots=slots, max_roots=roots, also=line)

    made = run(work())
    typer.echo(f"lane {clean(name)} of {queue} has weight {made.weight:g}, {_cap(made)}")


@finds_data
def lanes(queue: QueueName, as_json: AsJson = False, database: Database = None) -> None:
    """Lists the lanes of a queue that have a weight or a cap of their own.

    \b
    Examples:
      towpath queues lanes images
    """

    async def work() -> list[Lane]:
        async with opened(database) as app:
            if not (found := list(await app.queues.lanes(queue))):
                await app.queues.get(queue)
            return found

    found = run(work())
    if as_json:
        say_json([plain(lane) for lane in found])
        return
    grid = table("lane", "weight", "cap")
    for item in found:
        grid.add_row(clean(item.lane), f"{item.weight:g}", _cap(item))
    console().print(grid if found else f"every lane of {queue} has weight 1 and no cap")


def _cap(lane: Lane) -> str:
    if lane.max_slots is not None:
        return f"at most {lane.max_slots} running"
    return f"at most {lane.max_roots} open" if lane.max_roots is not None else "no cap"
