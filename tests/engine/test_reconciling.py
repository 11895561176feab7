"""Ten thousand tasks wait at a provider, a hundred of them are due: a cycle costs what a hundred cost."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.engine.at_providers import make_due, make_waiting, wait_at
from tests.providers.scripted import ScriptedProvider
from towpath import State
from towpath.engine.tending.reconciler import Reconciler
from towpath.store.sql import Queries

DUE, FEW, MANY = 100, 200, 10_000
FOR_EVER = 10**9
UNHURRIED = 120.0
"""Seconds that a look may take: on a busy machine nobody's lease is to run out before all have been looked at."""


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each named statement is sent meanwhile."""
    sent: Counter[str] = Counter()
    look_up = Queries.__getitem__

    def counting(self, name):
        sent[name] += 1
        return look_up(self, name)

    with monkeypatch.context() as patched:
        patched.setattr(Queries, "__getitem__", counting)
        yield sent


async def test_a_cycle_sends_as_many_statements_and_polls_for_ten_thousand_that_wait_as_for_few(
    new_app, monkeypatch: pytest.MonkeyPatch
):
    provider = ScriptedProvider(looks=FOR_EVER)
    app = new_app(provider_call_seconds=UNHURRIED)
    wait_at(app, provider)
    async with app:
        jobs = await make_waiting(app, provider, FEW)
        found = []
        for more in (0, MANY - FEW):
            await make_waiting(app, provider, more)
            await make_due(app, jobs[:DUE])
            polls = provider.polls
            with counted(monkeypatch) as sent:
                await Reconciler(app.services).turn()
            assert provider.polls - polls == DUE
            found.append(sent)
    few, many = found
    assert many == few
    assert many["note_poll"] == DUE
    assert sum(many.values()) < 3 * DUE


async def test_three_reconcilers_at_once_poll_and_wake_each_job_that_is_due_once(new_app):
    provider = ScriptedProvider(looks=1)
    first, second, third = (new_app(provider_call_seconds=UNHURRIED) for _ in range(3))
    for app in (first, second, third):
        wait_at(app, provider)
    async with first, second, third:
        jobs = await make_waiting(first, provider, 10 * DUE)
        due = jobs[: 3 * DUE]
        await make_due(first, due)
        await asyncio.gather(*(Reconciler(app.services).turn() for app in (first, second, third)))
        woken = await first.list(state=State.QUEUED, limit=1000)
        resumed = [
            [event.name async for event in first.events(job_id=job_id)].count("job.resumed") for job_id in jobs[: 4 * DUE]
        ]
    assert provider.polls == len(due)
    assert sorted(job.id for job in woken) == sorted(due)
    assert resumed == [1] * len(due) + [0] * DUE
