"""The checker is proven by mistakes made on purpose: each is caught, by name, and the same work without it passes."""

from pathlib import Path

import pytest

from tests.chaos.bugs import BUGS
from tests.chaos.checker import check
from tests.chaos.provocations import PROVOCATIONS, Work
from tests.chaos.run import Run

# The mistakes that are made in SQL, or differently on each database, are made on both.
ON_BOTH = ("no-fence", "lost-event", "double-count", "hasty-rescue", "no-queue-cap", "early-start", "first-come")


@pytest.mark.parametrize(
    ("bug", "database"),
    [(bug, "sqlite") for bug in BUGS] + [(bug, "postgres") for bug in ON_BOTH],
)
async def test_a_seeded_bug_is_told_by_the_invariant_it_breaks(
    bug: str, database: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = request.getfixturevalue(f"{database}_url")
    async with Run(url, tmp_path) as run:

        def caught() -> bool:
            return any(
                violation.invariant == BUGS[bug].invariant and BUGS[bug].told in violation.message
                for violation in check(run.history())
            )

        await PROVOCATIONS[bug](run, bug)
        await run.until(caught, f"{BUGS[bug].invariant} was found broken")


async def test_the_engine_without_a_bug_takes_every_provocation(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        work = [provocation for provocation in PROVOCATIONS.values() if isinstance(provocation, Work)]
        for provoke in dict.fromkeys(provocation for provocation in PROVOCATIONS.values() if provocation not in work):
            await provoke(run, None)
        await run.client.enqueue_many([wish for provocation in work for wish in provocation.wishes])
        await run.quiesce()
        run.judge()
