"""A worker process for the chaos runs: `python -m tests.chaos.worker --url … --log …`.

It can be told to kill or stop itself at the n-th reach of a named point, or to carry a seeded bug. It ends by itself when whoever started it is gone.
"""

import argparse
import asyncio
import faulthandler
import logging
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable

from tests.chaos import bugs
from tests.chaos.witness import Witness
from tests.chaos.workload import QUEUES, make_app
from towpath.core import points


def arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """What every process of a chaos run understands."""
    parser.add_argument("--url", required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--die", metavar="POINT:N", help="SIGKILL this process at the n-th reach of a point")
    parser.add_argument("--freeze", metavar="POINT:N", help="SIGSTOP this process there")
    parser.add_argument("--linger", metavar="POINT:SECONDS", help="rest at every reach of a point")
    parser.add_argument("--bug", choices=sorted(bugs.BUGS))
    parser.add_argument("--lease", type=float, default=1.0)
    parser.add_argument("--drain", type=float, default=0.2)
    parser.add_argument("--pool", type=int, default=10)
    return parser


def prepare(options: argparse.Namespace, witness: Witness) -> None:
    faulthandler.enable()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    threading.Thread(target=_end_with_the_owner, daemon=True).start()
    if options.bug:
        bugs.plant(options.bug)
    for asked, number in ((options.die, signal.SIGKILL), (options.freeze, signal.SIGSTOP)):
        if asked:
            points.install(_signal_at(asked, number, witness))
    if options.linger:
        points.install(_linger_at(options.linger))


def _signal_at(asked: str, number: signal.Signals, witness: Witness) -> Callable[[str], None]:
    point, _, nth = asked.partition(":")
    reached: Counter[str] = Counter()

    def hook(name: str) -> None:
        reached[name] += 1
        if name == point and reached[name] == int(nth or 1):
            witness.tell("reached", point=point, signal=number.name)
            os.kill(os.getpid(), number)

    return hook


def _linger_at(asked: str) -> points.Hook:
    point, _, seconds = asked.partition(":")
    return lambda name: asyncio.sleep(float(seconds)) if name == point else None


def _end_with_the_owner() -> None:
    """Standard input is a pipe that only the owner holds: its end means that the owner has gone."""
    sys.stdin.buffer.read()
    os._exit(0)


def _tell_tasks() -> None:
    """Where everything stands, for whoever wonders why nothing moves."""
    for task in asyncio.all_tasks():
        task.print_stack(file=sys.stderr)


async def run(options: argparse.Namespace, witness: Witness) -> None:
    app = make_app(
        options.url, witness, lease_seconds=options.lease, drain_seconds=options.drain, pool_size=options.pool
    )
    async with app:
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, _tell_tasks)
        witness.tell("worker")
        await app.run_until_signal(options.queues.split(","), options.concurrency)
    witness.tell("stopped")


def main() -> None:
    parser = arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--queues", default=",".join(QUEUES))
    parser.add_argument("--concurrency", type=int, default=4)
    options = parser.parse_args()
    witness = Witness(options.log)
    prepare(options, witness)
    asyncio.run(run(options, witness))


if __name__ == "__main__":
    main()
