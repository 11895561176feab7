"""The providers' stand-ins: simulators on loopback ports, and adapters that know these ports and no other address."""

from __future__ import annotations

import secrets
import threading
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Self

from towpath.batches.names import LOCAL
from towpath.cli.demo.bucket import Bucket
from towpath.cli.demo.stand_ins import STAND_INS
from towpath.cli.extras import how_to_install, missing_of
from towpath.core.errors import ConfigurationError
from towpath.engine.app import App
from towpath.providers import Provider
from towpath.providers.catalog import PROVIDERS
from towpath.providers.simulator import Simulator, served

_IN_THE_BUCKET = frozenset({"GOOGLE", "VERTEX"})


class Stage:
    """Each stand-in is opened when it is first needed, because their libraries take a second each to load; all of them are
    closed with the block."""

    def __init__(self, patience: float) -> None:
        """`patience` is for how long a submission may be on its way, in seconds."""
        self._patience = patience
        self._opened: dict[str, Simulator] = {}
        self._opening = threading.Lock()
        self._stack = ExitStack()
        self.bucket = Bucket()

    def __enter__(self) -> Self:
        self._stack.enter_context(served(self.bucket))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def register(self, app: App) -> None:
        """Every provider there is an adapter for, also those that nothing is shown of: none may ask the real one."""
        for name in STAND_INS:
            app.provider(name, partial(self.adapter, name))

    def simulator(self, name: str) -> Simulator:
        with self._opening:
            if name not in self._opened:
                made = STAND_INS[name].simulator(secrets.randbits(32))  # ids of an earlier demonstration are not met again
                if name in _IN_THE_BUCKET:
                    made.files = self.bucket.files
                self._stack.enter_context(served(made))
                self._opened[name] = made
            return self._opened[name]

    def adapter(self, name: str) -> Provider:
        return STAND_INS[name].adapter(self.simulator(name).url, self._patience)

    def newest(self, name: str) -> str | None:
        """The id of the job that was submitted last, as a person would see it in the provider's own console."""
        with self._opening:
            simulator = self._opened.get(name)
        paid = simulator.ledger.paid if simulator is not None else []
        return paid[-1].external_id if paid else None


def check_libraries() -> None:
    """One provider at the least can be shown."""
    if not set(STAND_INS) - set(missing_stand_ins()):
        raise ConfigurationError(
            f"no provider's library is installed, and without one nothing can be shown: {how_to_install('providers')}"
        )


def missing_stand_ins() -> dict[str, str]:
    """Providers whose library is not installed, each with the command that brings it; LOCAL if nothing is heard here."""
    found = {name: PROVIDERS[name].extra for name in STAND_INS} | {LOCAL: "local"}
    return {name: how_to_install(extra) for name, extra in found.items() if missing_of(extra)}
