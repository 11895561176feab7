"""`python -m bench.transports`: what a transport costs and saves. Everything runs on PostgreSQL, and on this machine.

- Drain: jobs per second of 1, 2 and 4 worker processes, compared with the database's own bell in the same run.
- Rest: how often the database is asked for each job that comes alone, by workers of which all but one find nothing.
"""

import argparse
import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import median

from bench.databases import Databases, PostgresDatabases
from bench.subjects.towpath import Towpath
from bench.throughput import drain
from tests.services.rabbitmq import RabbitServer
from tests.services.sqs import SqsServer
from towpath import App, Settings

PROCESSES = (1, 2, 4)
RESTING = 10
_BATCH = 100
_ALONE = 40
_QUEUE = "rest"


@contextmanager
def brokers() -> Iterator[dict[str, str]]:
    """Address by name. AWS's own variables are set to the endpoint of this machine."""
    with ExitStack() as stack:
        rabbit, sqs = stack.enter_context(RabbitServer()), stack.enter_context(SqsServer())
        os.environ.update(sqs.env)
        yield {"database": "database", "RabbitMQ": rabbit.url, "SQS": "sqs://"}


def drained(databases: Databases, transports: dict[str, str], rounds: int, seconds: float) -> dict[tuple[str, int], float]:
    """The rate of each by transport and number of processes. They take turns in each round, since machines wander."""
    rates: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds):
        for processes in PROCESSES:
            for name, url in transports.items():
                os.environ["TOWPATH_TRANSPORT"] = url  # the worker processes read it
                rate = drain(Towpath("postgres"), databases, batch=_BATCH, processes=processes, seconds=seconds)
                rates.setdefault((name, processes), []).append(rate)
                print(f"  {name}, {processes} processes: {rate:,.0f} jobs/s", flush=True)
    return {key: median(found) for key, found in rates.items()}


async def asked_for_each(url: str, transport: str) -> float:
    """Claims for each job that is enqueued while everybody rests. Nobody looks unasked."""
    settings = Settings(transport=transport, poll_seconds=3600.0, pool_size=2)
    apps = [App(url, settings=settings) for _ in range(RESTING)]
    for app in apps:
        app.operation("note", queue=_QUEUE)(_note)
    producer = App(url, settings=settings)
    producer.operation("note", queue=_QUEUE)(_note)
    for app in (*apps, producer):
        await app.open()
    workers = [app.worker([_QUEUE], 4) for app in apps]
    running = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        for _ in range(5):
            await producer.result((await producer.enqueue("note")).id, timeout=60)
        await asyncio.sleep(1.5)  # whoever rang for whoever came late is done
        before = sum(worker._turns.sent for worker in workers)
        for _ in range(_ALONE):
            await producer.result((await producer.enqueue("note")).id, timeout=60)
            await asyncio.sleep(0.1)
        return (sum(worker._turns.sent for worker in workers) - before) / _ALONE
    finally:
        for worker in workers:
            worker.stop()
        await asyncio.gather(*running)
        for app in (*apps, producer):
            await app.close()


async def _note(ctx: object, payload: object) -> None:
    """It is over at once."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.transports", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long one drain takes, roughly")
    asked = parser.parse_args()
    with brokers() as transports, PostgresDatabases() as databases:
        found = drained(databases, transports, asked.rounds, asked.seconds)
        print(
            "\n| transport | " + " | ".join(f"{n} processes" for n in PROCESSES) + " | claims for a job alone, 10 at rest |"
        )
        print("|---" * (len(PROCESSES) + 2) + "|")
        for name, transport in transports.items():
            cells = [f"{found[name, n]:,.0f} ({found[name, n] / found['database', n]:.2f})" for n in PROCESSES]
            url = databases.fresh(Towpath("postgres"))
            each = asyncio.run(asked_for_each(url, transport))
            databases.drop(url)
            print(f"| {name} | {' | '.join(cells)} | {each:.1f} |", flush=True)


if __name__ == "__main__":
    main()
