"""The lifecycle of a job as one table.

The table is the only place that says which verb may take a job from where to where. `verbs.py` performs the verbs, the
statements of the hot path take their states from here, and the diagram in the docs is generated from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def live(self) -> bool:
        """Whether a job that is in it has not ended."""
        return self in LIVE


QUEUED, RUNNING, WAITING = State.QUEUED, State.RUNNING, State.WAITING
SUCCEEDED, PARTIAL, FAILED, CANCELLED = State.SUCCEEDED, State.PARTIAL, State.FAILED, State.CANCELLED

LIVE = frozenset({QUEUED, RUNNING, WAITING})
TERMINAL = frozenset({SUCCEEDED, PARTIAL, FAILED, CANCELLED})
# States that a job which just runs and succeeds is never in. Lists by state are indexed for these only.
RARE = frozenset({WAITING, PARTIAL, FAILED, CANCELLED})


@dataclass(frozen=True, slots=True)
class Verb:
    """One row of the table. `fenced` verbs also demand that the caller's attempt is the job's latest."""

    name: str
    sources: frozenset[State]
    targets: tuple[State, ...]
    event: str
    fenced: bool = False
    note: str = ""


def _verb(
    name: str, sources: set[State] | frozenset[State], targets: tuple[State, ...], event: str, fenced: bool, note: str
) -> Verb:
    return Verb(name, frozenset(sources), targets, event, fenced, note)


TABLE: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        _verb("enqueue", frozenset(), (QUEUED,), "job.created", False, "scheduled or parked: queued, not ready"),
        _verb("claim", {QUEUED}, (RUNNING,), "job.started", False, "attempt + 1, a lease"),
        _verb("succeed", {RUNNING, WAITING}, (SUCCEEDED,), "job.succeeded", True, ""),
        _verb("finish_partial", {RUNNING, WAITING}, (PARTIAL,), "job.partial", True, ""),
        _verb("fail", {RUNNING, WAITING}, (FAILED,), "job.failed", True, "failures + 1"),
        _verb("defer", {RUNNING}, (WAITING, QUEUED), "job.waiting", True, "straight to queued if a wake came meanwhile"),
        _verb("poll", {WAITING}, (WAITING,), "job.polled", False, "a lease for whoever works on it from outside"),
        _verb("resume", {WAITING}, (QUEUED,), "job.resumed", False, "burns no budget; the operation is entered again"),
        _verb("retry", {RUNNING, WAITING}, (QUEUED,), "job.retry_scheduled", True, "failures + 1"),
        _verb("retry_later", {RUNNING}, (QUEUED, FAILED), "job.retry_later", True, "no budget; failed at a cap of its own"),
        _verb("release", {RUNNING}, (QUEUED,), "job.released", True, "handed back; no budget"),
        _verb("rescue", {RUNNING}, (QUEUED, FAILED), "job.rescued", True, "the lease expired; failures + 1"),
        _verb("expire", {WAITING}, (QUEUED, FAILED), "job.resumed", True, "the deadline passed"),
        _verb("cancel", LIVE, (CANCELLED,), "job.cancelled", False, "at once, children too"),
        _verb("requeue", {FAILED, PARTIAL, CANCELLED}, (QUEUED,), "job.requeued", False, "fresh budget"),
        _verb("reopen", {SUCCEEDED, PARTIAL, FAILED}, (WAITING,), "job.reopened", False, "its child was requeued"),
    )
}

# What a reader of the event log may conclude about the state. Every state change writes exactly one of these.
STATE_AFTER: dict[str, State] = {
    "job.created": QUEUED,
    "job.started": RUNNING,
    "job.succeeded": SUCCEEDED,
    "job.partial": PARTIAL,
    "job.failed": FAILED,
    "job.cancelled": CANCELLED,
    "job.waiting": WAITING,
    "job.resumed": QUEUED,
    "job.retry_scheduled": QUEUED,
    "job.retry_later": QUEUED,
    "job.released": QUEUED,
    "job.rescued": QUEUED,
    "job.requeued": QUEUED,
    "job.reopened": WAITING,
}

ENDING_EVENT: dict[State, str] = {
    SUCCEEDED: "job.succeeded",
    PARTIAL: "job.partial",
    FAILED: "job.failed",
    CANCELLED: "job.cancelled",
}


def allowed(verb: str, state: State | str) -> bool:
    return state in TABLE[verb].sources


def mermaid() -> str:
    """The table as a Mermaid state diagram, for the docs."""
    lines = ["stateDiagram-v2", "    [*] --> queued: enqueue"]
    edges: dict[tuple[str, str], list[str]] = {}
    for verb in TABLE.values():
        for source in sorted(verb.sources):
            for target in verb.targets:
                edges.setdefault((source.value, target.value), []).append(verb.name)
    for (source_name, target_name), verbs in sorted(edges.items()):
        lines.append(f"    {source_name} --> {target_name}: {', '.join(verbs)}")
    lines += [f"    {state.value} --> [*]" for state in State if state in TERMINAL]
    return "\n".join(lines) + "\n"


def markdown_table() -> str:
    """The table as Markdown, for the docs."""
    lines = ["| verb | from | to | event | fenced | note |", "|---|---|---|---|---|---|"]
    for verb in TABLE.values():
        sources = ", ".join(state.value for state in State if state in verb.sources) or "–"
        targets = ", ".join(state.value for state in verb.targets)
        fence = "yes" if verb.fenced else ""
        lines.append(f"| `{verb.name}` | {sources} | {targets} | `{verb.event}` | {fence} | {verb.note} |")
    return "\n".join(lines) + "\n"
