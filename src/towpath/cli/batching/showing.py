"""towpath batch status: a batch with everything that was ordered for it."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from towpath.batches import provider_state, stored
from towpath.batches.status import words_of
from towpath.batches.views import BatchView, views
from towpath.cli.batching.opening import BatchId, opened_batches
from towpath.cli.opening import run
from towpath.cli.options import AsJson, Database, finds_data
from towpath.cli.screen import STATE_STYLES, clean, console, facts, one_line, say_json, table
from towpath.core.provider_jobs import ProviderJob

_STYLES = {
    "PENDING": "queued", "IN_PROGRESS": "running", "COMPLETED": "succeeded", "PARTIAL_COMPLETE": "partial",
    "FAILED": "failed", "CANCELLED": "cancelled",
}  # fmt: skip


def status_text(status: str) -> Text:
    return Text(status, STATE_STYLES.get(_STYLES.get(status, ""), ""))


def as_dict(view: BatchView) -> dict[str, Any]:
    batch = view.batch
    state = provider_state.state_of(batch, view.ordered)
    same = (
        "id", "title", "task_type", "provider", "tenant", "count", "invalid", "ok", "failed", "estimate_cents", "cost_cents",
        "retry_of", "invalid_inputs",
    )  # fmt: skip
    return {name: getattr(batch, name) for name in same} | {
        "models": list(batch.models), "status": view.status, "done": view.done, "total": view.total, "error": view.error,
        "warning": view.warning, "waiting_for": view.waiting_for, "job_id": view.job.id if view.job is not None else None,
        "provider_state": provider_state.as_json(state) if state is not None else None,
        "provider_jobs": [_order(row) for row in view.ordered], "created_at": batch.created_at.isoformat(),
    }  # fmt: skip


def _order(row: ProviderJob) -> dict[str, Any]:
    same = ("id", "provider", "model", "shard", "status", "external_id", "key", "polls", "transient_failures", "error")
    return {name: getattr(row, name) for name in same} | {"state": row.state.value}


@finds_data
def status(batch_id: BatchId, as_json: AsJson = False, database: Database = None) -> None:
    """Shows a batch: how far it is, what it costs, what was ordered for it, and what could not be asked or heard.

    \b
    Examples:
      towpath batch status ID
      towpath batch status ID --json
    """
    view = run(_look(batch_id, database))
    if as_json:
        say_json(as_dict(view))
        return
    _show(view)


async def _look(batch_id: str, database: str | None) -> BatchView:
    async with opened_batches(database) as app:
        [view] = await views(app, [await stored.find(app, batch_id.lower())])
        return view


def _show(view: BatchView) -> None:
    screen, batch = console(), view.batch
    words = words_of(batch.task_type)
    count = None if batch.count is None else f"{batch.count:,}" + (f", {batch.invalid:,} unfit" if batch.invalid else "")
    answered = None if batch.ok is None else f"{batch.ok:,} {words.answered}, {batch.failed or 0:,} failed"
    cost = batch.cost_cents if batch.cost_cents is not None else batch.estimate_cents
    pairs = [
        ("title", batch.title), ("status", status_text(view.status)), ("waits for", view.waiting_for),
        ("task", batch.task_type), ("provider", batch.provider), ("models", ", ".join(filter(None, batch.models)) or None),
        (words.things, count), ("results", answered),
        ("progress", f"{view.done:,} of {view.total:,}" if view.total and batch.ok is None else None),
        ("cost", None if cost is None else f"{cost:.2f} cents{'' if batch.cost_cents is not None else ', estimated'}"),
        ("warning", view.warning), ("error", view.error), ("job", view.job.id if view.job is not None else None),
    ]  # fmt: skip
    screen.print(facts(pairs))
    if view.ordered:
        grid = table("id", "model", "shard", "state", "says", "polls", "at the provider", "error")
        for row in view.ordered:
            grid.add_row(
                row.id, clean(row.model), str(row.shard + 1), row.state.value, clean(row.status or ""), str(row.polls),
                clean(row.external_id or ""), one_line(row.error or "", 80),
            )  # fmt: skip
        screen.print(grid)
    for one in batch.invalid_inputs[:20]:
        named = one.get("name") or one.get("input")
        name = f", {clean(named)}" if named else ""
        screen.print(f"line {one['line']}{name}: {clean(one['reason'])}")
