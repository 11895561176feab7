"""Whatever a provider says of a job, the job ends: what no database takes is neither lost nor asked for ever."""

import pytest

from tests.engine.working import ended, working
from tests.providers.scripted import ScriptedProvider
from towpath import Order, ProviderState
from towpath.providers import Answer, Counts, Phase

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
