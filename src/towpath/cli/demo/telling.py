"""What a demonstration says in the terminal, in plain words: what is sent, what becomes of it, what to do."""

from __future__ import annotations

import time
from collections.abc import Callable

from towpath.batches.status import COMPLETED, FAILED, IN_PROGRESS, PARTIAL_COMPLETE, PENDING, words_of
from towpath.batches.views import BatchView
from towpath.cli.demo.scenes import Scene
from towpath.cli.words import program
from towpath.core.provider_jobs import ProviderState

_INDENT = " " * 10


class Teller:
    """`say` writes a line. A batch is told of when something about it has changed that its line shows."""

    def __init__(self, say: Callable[[str], object], options: str, newest: Callable[[str], str | None]) -> None:
        """`options` are what a command needs to mean this database; `newest` tells the id of the newest job at a provider,
        for orders that it cannot be asked about."""
        self._say, self._options, self._newest = say, options, newest
        self._told: dict[str, str] = {}

    def sent(self, scene: Scene) -> None:
        self._say(f"{_now()}  sent to {scene.provider}: {scene.title}\n{_INDENT}{scene.shows}")

    def all_sent(self) -> None:
        self._say(f"{_now()}  that was the last one; what is under way goes on. Cancel, retry and delete as you like")

    def changed(self, view: BatchView) -> None:
        line = _line(view)
        if self._told.get(view.batch.id) == line or line == PENDING:
            return
        self._told[view.batch.id] = line
        self._say(f"{_now()}  {view.batch.title}: {line}")
        for hint in self._hints(view):
            self._say(f"{_INDENT}{hint}")

    def _hints(self, view: BatchView) -> list[str]:
        batch = view.batch
        if view.waiting_for == "budget":
            raised = f"{program()} limits set {batch.tenant} 100{self._options}"
            return [f"raise the limit, and it goes on: {raised}"]
        if view.waiting_for != "submit_unknown":
            return []
        found = []
        for row in view.ordered:
            external_id = self._newest(row.provider) if row.state is ProviderState.UNKNOWN else None
            if external_id is not None:
                adopt = f"{program()} batch adopt {batch.id} {row.id} {external_id}{self._options}"
                found.append(f"{row.provider} has it as {external_id}; adopt it on its page, or: {adopt}")
        return found


def _now() -> str:
    return time.strftime("%H:%M:%S")


def _line(view: BatchView) -> str:
    batch = view.batch
    if view.status in (COMPLETED, PARTIAL_COMPLETE):
        counts = [f"{batch.ok or 0:,} {words_of(batch.task_type).answered}"]
        counts += [f"{batch.failed:,} failed"] if batch.failed else []
        counts += [f"{batch.invalid:,} invalid"] if batch.invalid else []
        cost = "" if batch.cost_cents is None else f", for {batch.cost_cents:.2f} cents"
        return f"{view.status}, {', '.join(counts)}{cost}"
    if view.status == FAILED:
        return f"{FAILED}, {view.error or 'and nobody knows why'}"
    if view.status in (PENDING, IN_PROGRESS):
        return f"{view.status}{_why(view)}"
    return view.status


def _why(view: BatchView) -> str:
    if view.waiting_for not in (None, "provider"):
        return f", waiting for {view.waiting_for}"
    reason = view.job.reason if view.job is not None and view.status == PENDING else None
    return f", {reason.replace('_', ' ')}" if reason else ""
