"""The processes of a chaos run: started, killed, paused and, whatever happens, reaped."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from tests.chaos.witness import Witness

_REPOSITORY = Path(__file__).parents[2]


class Member:
    """One process of the fleet, leader of its own session and group."""

    def __init__(self, process: subprocess.Popen[bytes], name: str, output: Path, witness: Witness) -> None:
        self._process, self.name, self._output, self._witness = process, name, output, witness

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def returncode(self) -> int | None:
        return self._process.poll()

    def signal(self, number: signal.Signals) -> None:
        """Told to the witness before it is sent: whoever dies of it cannot say so."""
        self._witness.tell("signal", target=self.pid, signal=number.name)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self._process.wait(timeout=10)

    def pause(self) -> None:
        self.signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.signal(signal.SIGCONT)

    def terminate(self) -> None:
        self.signal(signal.SIGTERM)

    def wait(self, seconds: float) -> int:
        try:
            return self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} has not ended within {seconds:g} s; it said:\n{self.output()}") from None

    def output(self) -> str:
        return self._output.read_text(errors="replace")[-8000:]

    def reap(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait(timeout=10)
        if self._process.stdin is not None:
            self._process.stdin.close()


class Fleet:
    """Starts processes of one run; leaving the `with` block ends every one of them and their groups."""

    def __init__(self, url: str, directory: Path, witness: Witness) -> None:
        self.url, self._directory, self._witness = url, directory, witness
        self.members: list[Member] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for member in self.members:
            member.reap()

    def worker(self, **options: Any) -> Member:
        return self.start("tests.chaos.worker", **options)

    def client(self, **options: Any) -> Member:
        return self.start("tests.chaos.client", **options)

    def start(self, module: str, *, url: str | None = None, clock: float = 0.0, **options: Any) -> Member:
        """`clock` is by how many seconds the process's clock is wrong; the options are the module's own."""
        name = f"{module.rsplit('.', 1)[-1]}-{len(self.members) + 1}"
        skew = ["tests.chaos.skewed", str(clock)] if clock else []
        command = [sys.executable, "-m", *skew, module, "--url", url or self.url, "--log", str(self._witness.path)]
        for key, value in options.items():
            command += [f"--{key.replace('_', '-')}", str(value)]
        output = self._directory / f"{name}.out"
        with output.open("wb") as file:
            process = subprocess.Popen(
                command,
                cwd=_REPOSITORY,
                env={**os.environ, "PYTHONFAULTHANDLER": "1"},
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        member = Member(process, name, output, self._witness)
        self.members.append(member)
        return member

    def inquest(self) -> str:
        """Asks every living member what it is doing, and answers what all of them have said."""
        for member in self.members:
            if member.alive:
                member.signal(signal.SIGUSR1)
        time.sleep(0.5)
        return self.outputs()

    def outputs(self) -> str:
        return "\n".join(f"--- {member.name}\n{text}" for member in self.members if (text := member.output()))


def until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Polls a condition that only another process can make true."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"within {seconds:g} s it did not come true that {what}")
        time.sleep(0.02)
