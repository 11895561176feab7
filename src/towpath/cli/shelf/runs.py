"""towpath documents runs, run, requeue, cancel: what was asked to be read, how far it is, and trying again what failed."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from towpath.cli.auditing import note
from towpath.cli.opening import run
from towpath.cli.options import AsJson, Database, Limit, Tenant, finds_data
from towpath.cli.screen import STATE_STYLES, clean, console, facts, one_line, say_json, table
from towpath.cli.shelf.opening import RunId, opened_documents
from towpath.documents import moving, stored
from towpath.documents.names import FAILED
from towpath.documents.run_views import run_views
from towpath.documents.shaping import item_shape, run_shape
from towpath.documents.views import item_views

_STYLES = {
    "PENDING": "queued", "RUNNING": "running", "COMPLETED": "succeeded", "PARTIAL": "partial", "FAILED": "failed",
    "CANCELLED": "cancelled",
}  # fmt: skip
_PAGE = 500
Shape = dict[str, Any]


def _status(status: str) -> Text:
    return Text(status, STATE_STYLES.get(_STYLES.get(status, ""), ""))


@finds_data
def list_runs(*, tenant: Tenant = None, limit: Limit = 20, as_json: AsJson = False, database: Database = None) -> None:
    """Lists runs, newest first: what was sent to be read together, and how far it is.

    \b
    Examples:
      towpath documents runs
    """

    async def work() -> list[Shape]:
        async with opened_documents(database) as app:
            found = await run_views(app, await stored.runs_page(app, tenant, before=None, limit=limit))
            return [run_shape(view).model_dump(mode="json") for view in found]

    found = run(work())
    if as_json:
        say_json(found)
        return
    grid = table("id", "status", "done", "failed", "of", "title")
    for one in found:
        counts, count = one["counts"], "" if one["count"] is None else f"{one['count']:,}"
        done, failed = f"{counts['COMPLETED']:,}", f"{counts['FAILED'] + counts['CANCELLED']:,}"
        grid.add_row(one["id"], _status(one["status"]), done, failed, count, clean(one["title"]))
    console().print(grid if found else "there are no runs")


@finds_data
def show_run(
    run_id: RunId,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every item, not only those that failed.")] = False,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Shows a run: how many of its items stand where, what they took and cost, and which failed, where and why.

    \b
    Examples:
      towpath documents run ID
      towpath documents run ID --all --json
    """
    shape, items = run(_look(run_id, everything, database))
    if as_json:
        say_json(shape | {"items": items})
        return
    _tell(shape)
    if items:
        grid = table("id", "step", "name", "error")
        for one in items:
            error = one["error"] or {}
            where = f"{error['step']}: " if error.get("step") else ""
            grid.add_row(one["id"], one["step"], one_line(one["name"], 60), where + one_line(error.get("message", "")))
        console().print(grid)


async def _look(run_id: str, everything: bool, database: str | None) -> tuple[Shape, list[Shape]]:
    items: list[Shape] = []
    async with opened_documents(database) as app:
        found = await stored.run(app, run_id.lower())
        [view] = await run_views(app, [found])
        after = -1
        while page := await stored.items_page(app, found.id, after=after, limit=_PAGE):
            views = [one for one in await item_views(app, page) if everything or one.status == FAILED]
            items += [item_shape(one).model_dump(mode="json") for one in views]
            after = page[-1].number
    return run_shape(view).model_dump(mode="json"), items


def _tell(shape: Shape) -> None:
    counts = ", ".join(f"{count:,} {status.lower()}" for status, count in shape["counts"].items() if count)
    pairs = [
        ("title", shape["title"]), ("status", _status(shape["status"])), ("items", counts),
        ("waits for", shape["waiting_for"]), ("tokens", f"{shape['tokens_in']:,} in, {shape['tokens_out']:,} out"),
        ("cost", f"{shape['cost_cents']:.2f} cents"), ("warning", shape["warning"]), ("error", shape["error"]),
        ("job", shape["job_id"]), ("by", shape["creator"]), ("made", shape["created_at"]),
    ]  # fmt: skip
    console().print(facts(pairs))


@finds_data
def requeue(
    run_id: RunId,
    *,
    item: Annotated[
        list[str] | None,
        typer.Option("--item", metavar="ID", help="Only this item; several times for several.", show_default=False),
    ] = None,
    cause: Annotated[
        str | None, typer.Option("--cause", help="Only those whose error says this.", show_default=False)
    ] = None,
    ocr: Annotated[
        bool | None,
        typer.Option("--ocr/--no-ocr", help="Read pages that are pictures this time, or not.", show_default=False),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option("--budget", metavar="CENTS", min=0, help="What may be spent from now on.", show_default=False),
    ] = None,
    database: Database = None,
) -> None:
    """Tries items again that failed or were cancelled, each from the step that failed. Exit code 1 if there was none.

    \b
    Examples:
      towpath documents requeue RUN
      towpath documents requeue RUN --cause "connection refused"
      towpath documents requeue RUN --item ID --no-ocr
    """
    settings = {name: value for name, value in (("ocr", ocr), ("budget_cents", budget)) if value is not None}

    async def work() -> moving.Retried:
        async with opened_documents(database, writes=True) as app:
            found = await stored.run(app, run_id.lower())
            done = await moving.retry(app, found, items=item, cause=cause, settings=settings or None)
            if done.retried:
                await note(app, "documents.retry", found.id, tenant=found.tenant, items=done.retried)
            return done

    done = run(work())
    for one, why in done.refused.items():
        console().print(f"{clean(one)}: {clean(why)}")
    console().print("1 item requeued" if done.retried == 1 else f"{done.retried:,} items requeued")
    if not done.retried:
        raise typer.Exit(1)


@finds_data
def cancel(run_id: RunId, database: Database = None) -> None:
    """Stops a run. Documents that were read stay.

    \b
    Examples:
      towpath documents cancel RUN
    """

    async def work() -> int:
        async with opened_documents(database) as app:
            found = await stored.run(app, run_id.lower())
            stopped = len(await moving.cancel(app, found, "the command line"))
            if stopped:
                await note(app, "documents.cancel", found.id, tenant=found.tenant, jobs=stopped)
            return stopped

    console().print("cancelled" if run(work()) else "nothing is being done with it")
