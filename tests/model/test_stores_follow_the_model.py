"""Random lives of jobs: the real stores do what the small model says, whatever the order of words."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis.stateful import run_state_machine_as_test

from tests.contracts.stores import Hands, opened
from tests.model.machine import JobMachine


@contextmanager
def at_hand(url: str) -> Iterator[tuple[asyncio.AbstractEventLoop, Hands]]:
    """An event loop of our own and a store that stays open over all examples."""
    with asyncio.Runner() as runner:
        opening = opened(url)
        hands = runner.run(opening.__aenter__())
        try:
            yield runner.get_loop(), hands
        finally:
            runner.run(opening.__aexit__(None, None, None))


def test_a_store_does_what_the_model_says(database_url):
    with at_hand(database_url) as (loop, hands):
        machine = type("OnThisStore", (JobMachine,), {"loop": loop, "hands": hands})
        run_state_machine_as_test(machine)
