"""What one look at a provider's job means for its row. Decided here for every provider, and without I/O.

| the look                     | what follows                                                                      |
|------------------------------|-----------------------------------------------------------------------------------|
| it has ended                 | so it is written down                                                             |
| it goes on, or says anything | asked again, sooner for young jobs, or when the provider wants to be asked        |
| 429                          | asked again when the provider wants to be asked; it does not count                |
| no answer, or an error       | asked again; the third time in a row it has failed                                |
| it is not known there        | asked again; the third time in a row it is lost                                   |
| the time is up               | it has failed, unless this very look says that it has ended                       |
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from towpath.core.encoding import encode, plain
from towpath.core.errors import EncodingError, RateLimited
from towpath.core.provider_jobs import ProviderJob, ProviderState
from towpath.core.reactions import message_of
from towpath.engine.polling import Polling
from towpath.providers import Answer, Phase, Vanished

TRANSIENT_LIMIT = 3
_LONGEST_STATUS, _LONGEST_FACTS = 200, 64 * 1024
_STATES = {
    Phase.COMPLETED: ProviderState.COMPLETED,
    Phase.PARTIAL: ProviderState.PARTIAL,
    Phase.FAILED: ProviderState.FAILED,
    Phase.CANCELLED: ProviderState.CANCELLED,
}


def judge(row: ProviderJob, look: Answer | Exception, now: datetime, polling: Polling) -> ProviderJob:
    """The row after that look."""
    after = _after_answer(row, look, now, polling) if isinstance(look, Answer) else _after_error(row, look, now, polling)
    if after.state.ended:
        return replace(after, next_poll_at=None)
    if row.deadline is not None and now >= row.deadline:
        hours = polling.timeout / 3600
        return replace(
            after, state=ProviderState.FAILED, next_poll_at=None,
            error=f"{row.provider} has not ended it within {hours:g} hours; its last word was {after.status}",
        )  # fmt: skip
    return after


def _after_answer(row: ProviderJob, answer: Answer, now: datetime, polling: Polling) -> ProviderJob:
    state, status = _STATES.get(answer.phase, row.state), plain(answer.status, _LONGEST_STATUS)
    error = None if answer.error is None else plain(answer.error)
    if state is ProviderState.FAILED and not error:
        error = f"{row.provider} says {status}, and no reason"
    return replace(
        row, state=state, status=status, transient_failures=0, error=error, answer_json=_facts(answer),
        output_uri=plain(answer.output_uri) if answer.output_uri else row.output_uri,
        next_poll_at=_next(row, now, polling, answer.retry_after),
    )  # fmt: skip


def _facts(answer: Answer) -> str | None:
    """For people to read. What no database takes is left out: it must not keep a job from ending."""
    said = dict(answer.detail)
    if answer.counts is not None:
        said["counts"] = {
            "total": answer.counts.total, "completed": answer.counts.completed, "failed": answer.counts.failed,
        }  # fmt: skip
    try:
        text = encode(said) if said else None
    except EncodingError:
        return None
    return text if text is None or len(text) <= _LONGEST_FACTS else None


def _after_error(row: ProviderJob, error: Exception, now: datetime, polling: Polling) -> ProviderJob:
    text = message_of(error)
    if isinstance(error, RateLimited):
        return replace(row, error=text, next_poll_at=_next(row, now, polling, error.retry_after))
    failures = row.transient_failures + 1
    after = replace(row, transient_failures=failures, error=text, next_poll_at=_next(row, now, polling, None))
    if failures < TRANSIENT_LIMIT:
        return after
    if isinstance(error, Vanished):
        return replace(after, state=ProviderState.FAILED, status="LOST", error=f"provider_lost: {text}")
    return replace(after, state=ProviderState.FAILED, status="ERROR")


def _next(row: ProviderJob, now: datetime, polling: Polling, asked: float | None) -> datetime:
    age = (now - row.submitted_at).total_seconds() if row.submitted_at is not None else 0.0
    moment = now + timedelta(seconds=max(polling.interval(age), asked or 0.0))
    # The last look is at the deadline, however long the interval.
    return min(moment, row.deadline) if row.deadline is not None and row.deadline > now else moment
