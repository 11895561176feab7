"""Whatever a provider says of a job, the job ends: what no database takes is neither lost nor asked for ever."""

import pytest

from tests.engine.test_submitting import the_call_is_over
from tests.engine.working import AT_ONCE, ended, in_state, working
from tests.providers.scripted import ScriptedProvider
from towpath import Order, ProviderState
from towpath.providers import Answer, Counts, Grade, Phase

HALF = "\ud800"
"""Half of a character, as a broken library makes it of an emoji."""
RUNNING = Answer(f"WORK\x00ING{HALF}", Phase.RUNNING, detail={"said": HALF, "share": float("nan")})
STRANGE = {
    "it failed": (Answer("BROKEN\x00", Phase.FAILED, error=f"no{HALF} and\x00 no"), "failed", "BROKEN␀", "no? and␀ no"),
    "it ended": (
        Answer(HALF * 300, Phase.COMPLETED, output_uri="s3://b/\x00", detail={"facts": "x" * 99999}, counts=Counts(1, 1, 0)),
        "completed", "?" * 199 + "…", None,
    ),
    "an adapter's mistake": (Answer(None, Phase.COMPLETED), "failed", "ERROR", "could not be written"),  # type: ignore[arg-type]
}  # fmt: skip


class Strange(ScriptedProvider):
    def __init__(self, last: Answer) -> None:
        super().__init__()
        self.last = last

    async def poll(self, order, prepared, external_id):
        self.polls += 1
        return RUNNING if self.polls == 1 else self.last


class Nameless(ScriptedProvider):
    """It takes the order, and tells an id that nobody can ask by."""

    def __init__(self, told: object) -> None:
        super().__init__(grade=Grade.LISTED)
        self.told = told

    async def submit(self, order, prepared):
        await super().submit(order, prepared)
        return self.told


@pytest.mark.parametrize("told", [None, 7, "ext\x00"])
async def test_an_order_of_which_no_id_was_told_is_looked_for_and_not_paid_for_again(opened, told):
    app, provider = await opened(provider_call_seconds=1.0, poll_interval_seconds=0.01), Nameless(told)
    app.provider("SCRIPTED", lambda: provider)

    @app.operation("batch", retry=AT_ONCE)
    async def batch(ctx, payload):
        [row] = await ctx.submit("SCRIPTED", [Order("", "completion", "m1", count=1)])
        return [row.state.value, row.external_id]

    job = await app.enqueue("batch", {})
    async with working(app):
        assert (await in_state(app, job, "waiting")).reason == "provider_call"
        await the_call_is_over(app, job)
        found = (await ended(app, job)).result
    assert found == ["completed", provider.ledger.paid[0].external_id]
    assert len(provider.ledger.paid) == 1


@pytest.mark.parametrize("what", STRANGE)
async def test_whatever_it_says_it_is_written_down_and_the_job_goes_on(opened, what):
    last, state, status, error = STRANGE[what]
    app = await opened(poll_interval_seconds=0.01)
    app.provider("SCRIPTED", lambda: Strange(last))

    @app.operation("batch")
    async def batch(ctx, payload):
        rows = await ctx.submit("SCRIPTED", [Order("", "completion", "m1", count=1)])
        return [row.state is not ProviderState.SUBMITTED for row in rows]

    job = await app.enqueue("batch", {})
    async with working(app):
        assert (await ended(app, job)).result == [True]
    [row] = (await app.provider_jobs.of([job.id]))[job.id]
    assert (row.state.value, row.status, row.answer_json) == (state, status, None)
    assert row.error == error or error in (row.error or "")
