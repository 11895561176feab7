"""The checker is proven by mistakes made on purpose: each is caught, by name, and the same work without it passes."""

from pathlib import Path

import pytest

from tests.chaos.bugs import BUGS
from tests.chaos.checker import check
from tests.chaos.provocations import PROVOCATIONS, Work
from tests.chaos.run import Run


@pytest.mark.parametrize("bug", BUGS)
async def test_a_seeded_bug_breaks_the_invariant_it_should(bug: str, sqlite_url: str, tmp_path: Path) -> None:
    _, invariant = BUGS[bug]
    async with Run(sqlite_url, tmp_path) as run:
        await PROVOCATIONS[bug](run, bug)
        try:
            await run.quiesce(3 if bug == "hasty-rescue" else 10)
        except AssertionError:
            pass  # a bug may well keep jobs from ending; what counts is what the checker says
        found = {violation.invariant for violation in check(run.history())}
        assert invariant in found, run.fleet.outputs()


async def test_the_engine_without_a_bug_takes_every_provocation(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        work = [provocation for provocation in PROVOCATIONS.values() if isinstance(provocation, Work)]
        for provoke in dict.fromkeys(provocation for provocation in PROVOCATIONS.values() if provocation not in work):
            await provoke(run, None)
        await run.client.enqueue_many([wish for provocation in work for wish in provocation.wishes])
        await run.quiesce()
        run.judge()
