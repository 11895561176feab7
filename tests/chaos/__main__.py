"""The long version: `make chaos`, or `python -m tests.chaos --minutes 30 --seed 7 --database postgres`.

Each round is a storm of random faults on a fresh database, drawn from a seed that is printed, and ends with the checker's
verdict. The first violation stops everything, is written to a report, and makes the exit code 1.
"""

import argparse
import asyncio
import logging
import random
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.chaos.bugs import BUGS
from tests.chaos.checker import BrokenPromise, check
from tests.chaos.history import History
from tests.chaos.run import Run
from tests.chaos.storm import Storm
from tests.chaos.violation import line
from tests.services.postgres import PostgresServer


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on (default 10)")
    parser.add_argument("--seed", type=int, help="of the first round; each further round adds one (default: random)")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--storm", type=float, default=20.0, metavar="SECONDS", help="of faults per round (default 20)")
    parser.add_argument("--bug", choices=sorted(BUGS), help="plant a seeded bug in the workers, to see it being caught")
    options = parser.parse_args()
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    databases = ["sqlite", "postgres"] if options.database == "both" else [options.database]
    deadline = time.monotonic() + options.minutes * 60
    with ExitStack() as stack:
        server = stack.enter_context(PostgresServer()) if "postgres" in databases else None
        number = 0
        while number < len(databases) or time.monotonic() < deadline:
            database = databases[number % len(databases)]
            if not _round(database, seed + number // len(databases), server if database == "postgres" else None, options):
                return 1
            number += 1
    print(f"{number} rounds without a violation")
    return 0


def _round(database: str, seed: int, server: PostgresServer | None, options: argparse.Namespace) -> bool:
    directory = Path(tempfile.mkdtemp(prefix="towpath-chaos-"))
    logging.basicConfig(filename=directory / "driver.out", level=logging.WARNING, force=True)
    url = f"sqlite:///{directory}/jobs.db" if server is None else server.create_database(f"chaos_{seed}")
    print(f"seed {seed:<7} {database:<9} ", end="", flush=True)
    began = time.monotonic()
    try:
        told = asyncio.run(_storm(url, directory, seed, server, options))
    except AssertionError as error:
        print(f"VIOLATION after {time.monotonic() - began:.0f} s\n{error}")
        print(f"\nThe testimony, every event and what the processes said are in {directory}")
        print(f"Once more: python -m tests.chaos --database {database} --seed {seed} --minutes 0")
        (directory / "violations.txt").write_text(str(error))
        return False
    print(f"ok after {time.monotonic() - began:.0f} s: {told}", flush=True)
    shutil.rmtree(directory)
    if server is not None:
        server.drop_database(f"chaos_{seed}")
    return True


async def _storm(url: str, directory: Path, seed: int, server: PostgresServer | None, options: argparse.Namespace) -> str:
    async with Run(url, directory, seed=seed) as run:
        storm = Storm(run, server, options.bug)
        try:
            await storm.blow(options.storm)
            history = run.judge()
        except AssertionError as error:
            (directory / "inquest.txt").write_text(f"{error}\n{run.fleet.inquest()}")
            history = run.history()
            _keep_events(history, directory)
            raise BrokenPromise(check(history)) from error
    faults = ", ".join(f"{number} × {fault}" for fault, number in storm.faults.most_common())
    events = sum(map(len, history.events.values()))
    return f"{len(history.jobs):,} jobs, {events:,} events; {faults}"


def _keep_events(history: History, directory: Path) -> None:
    """The whole history, because the database may be gone when somebody looks."""
    with (directory / "events.txt").open("w") as file:
        for job in history.jobs.values():
            file.write(f"{job.id} {job.operation}\n" + "".join(f"    {line(event)}\n" for event in history.of(job.id)))


if __name__ == "__main__":
    sys.exit(main())
