"""I11, I13: nothing happens before its time, and schedules fire once."""

from collections.abc import Iterator

from tests.chaos.history import History
from tests.chaos.violation import Violation, broken
from towpath.core.records import Event

_ROUNDING = 0.002  # events carry delays in milliseconds


def backoff_is_respected(history: History) -> Iterator[Violation]:
    """I11: after a failure the next handler starts no sooner than its delay says."""
    starts = {(sighting.job, sighting.fence): sighting.wall for sighting in history.seen("start")}
    for job in history.jobs.values():
        failed: Event | None = None
        for event in history.of(job.id):
            if event.name in ("job.retry_scheduled", "job.retry_later", "job.rescued"):
                failed = event
            elif event.name in ("job.requeued", "job.cancelled"):
                failed = None
            elif event.name == "job.started" and failed is not None:
                begun = starts.get((job.id, event.attempt))
                assert failed.ts is not None
                due = failed.ts.timestamp() + _delay(failed) - _ROUNDING
                if begun is not None and begun < due:
                    yield broken(
                        "I11", job, f"was tried again {due - begun:.3f} s before its backoff was over", (failed, event)
                    )
                failed = None


def _delay(event: Event) -> float:
    fields = event.fields or {}
    if event.name == "job.rescued":
        return min(60.0, 2.0 ** (fields["failures"] - 1) - 1)
    return float(fields.get("delay", fields.get("delay_seconds", 0.0)))


def nothing_starts_early(history: History) -> Iterator[Violation]:
    """I13: no handler begins before the run_at its enqueue was acknowledged with. A requeue means now."""
    due = {ack.job: ack.facts["run_at"] for ack in history.seen("ack") if ack.facts.get("run_at")}
    for sighting in history.seen("start"):
        moment = due.get(sighting.job)
        if moment is None or sighting.job is None or sighting.wall >= moment - _ROUNDING:
            continue
        events = history.of(sighting.job)
        if not any(event.name == "job.requeued" for event in events):
            job = history.jobs.get(sighting.job, sighting.job)
            yield broken("I13", job, f"began {moment - sighting.wall:.3f} s before its run_at", events[:3])


def schedules_fire_once(history: History) -> Iterator[Violation]:
    """I13: one job per schedule and slot; its key names both."""
    seen: dict[str, str] = {}
    for job in history.jobs.values():
        if job.key is None or not job.key.startswith("schedule "):
            continue
        if job.key in seen:
            yield broken("I13", job, f"{job.key} fired twice; the first job is {seen[job.key]}", history.of(job.id)[:1])
        seen[job.key] = job.id
    for ack in history.seen("slot"):
        if ack.facts["key"] not in seen:
            yield broken("I13", None, f"{ack.facts['key']} was due and did not fire")
