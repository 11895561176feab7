"""When an item will be done: by its place in the line of its run, and by what the steps took of the items before it.

The engine says when a run is done, see `app.subjects.prospects`; its items are the run's own parts.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field

from towpath import App, Prospect
from towpath.documents import stored
from towpath.documents.run_views import RunView, run_views

_FRESH = 1.0
_KEPT = 200
_MOST = 1000
_BETWEEN = (0.5, 3.0)
"""How far from what the steps usually take one item may be."""

NOTHING_DONE = "no document of this run has come so far yet, so there is nothing to estimate by"
TOO_FAR = "too much is before it to say when it will be done"
_WAITS = {
    "budget": "it waits for money: raise what the run or the tenant may spend",
    "rate_limited": "a service has asked for patience",
    "retry": "it has failed for now and is tried again",
    "retry_later": "it was asked to come back later",
}


@dataclass(frozen=True, slots=True)
class Outlook:
    """Of one run: what is said of it, and its items that wait for their turn, the next one first."""

    view: RunView
    line: dict[str, int] = field(default_factory=dict)

    def of(self, item_id: str, *, waits: str | None, begun: bool, done: Collection[str]) -> Prospect:
        if waits is not None and (waits != "children"):
            return Prospect(None, False, None, _WAITS.get(waits, f"it waits for {waits}"))
        if begun:
            return self._begun(done)
        place = self.line.get(item_id)
        if place is None:
            return Prospect(None, len(self.line) >= _MOST, None, TOO_FAR if len(self.line) >= _MOST else self._reason)
        told = self.view.prospect
        if told is None or told.eta is None:
            return Prospect(place, False, None, self._reason)
        counts = self.view.counts.items
        part = min(1.0, (place + counts["RUNNING"]) / max(1, counts["PENDING"] + counts["RUNNING"]))
        return Prospect(place, False, (told.eta[0] * part, told.eta[1] * part))

    @property
    def _reason(self) -> str:
        told = self.view.prospect
        return (told.reason if told is not None else None) or NOTHING_DONE

    def _begun(self, done: Collection[str]) -> Prospect:
        left = [one for one in self.view.counts.steps if one.step not in done]
        if any(not one.done for one in left):
            return Prospect(None, False, None, NOTHING_DONE)
        seconds = sum(one.duration_ms / one.done for one in left) / 1000
        return Prospect(None, False, (seconds * _BETWEEN[0], seconds * _BETWEEN[1]))


class Outlooks:
    """Kept on an app: what was found out lately. Every change of an item asks."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, Outlook]] = {}

    async def of(self, app: App, run_ids: Collection[str]) -> dict[str, Outlook]:
        now = time.monotonic()
        found = {one: known[1] for one in run_ids if (known := self._known.get(one)) and now - known[0] < _FRESH}
        missing = [one for one in run_ids if one not in found]
        for view in await run_views(app, await stored.runs(app, missing)) if missing else ():
            found[view.run.id] = Outlook(view, await _line(app, view))
            self._known.pop(view.run.id, None)
            self._known[view.run.id] = (time.monotonic(), found[view.run.id])
        while len(self._known) > _KEPT:
            self._known.pop(next(iter(self._known)))
        return found


async def _line(app: App, view: RunView) -> dict[str, int]:
    if view.job is None or not view.counts.items["PENDING"]:
        return {}
    rows = await app.query("document_run_line", job_id=view.job.id, limit=_MOST)
    return {row["subject_id"]: place for place, row in enumerate(rows, 1)}
