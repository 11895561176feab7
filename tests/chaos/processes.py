"""The processes of a chaos run: started, killed, paused and, whatever happens, ended."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, Self

import psutil
import psycopg

from tests.chaos.nursery import nursery
from tests.chaos.witness import Witness

_REPOSITORY = Path(__file__).parents[2]


class Handle(Protocol):
    pid: int

    def poll(self) -> int | None: ...


class Forked:
    """A process that the nursery started."""

    def __init__(self, module: str, arguments: list[str], output: Path) -> None:
        self.pid = nursery().start(module, arguments, output)

    def poll(self) -> int | None:
        return nursery().poll(self.pid)


def executed(module: str, arguments: list[str], output: Path) -> Handle:
    """A process from scratch, for modules that must be first to be imported."""
    with output.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=_REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


class Member:
    """One process of the fleet, leader of its own session and group."""

    def __init__(self, handle: Handle, name: str, output: Path, witness: Witness) -> None:
        self._handle, self.name, self._output, self._witness = handle, name, output, witness
        self.pid = handle.pid

    @property
    def returncode(self) -> int | None:
        return self._handle.poll()

    @property
    def alive(self) -> bool:
        return self.returncode is None

    def signal(self, number: signal.Signals) -> None:
        """Told to the witness before it is sent: whoever dies of it cannot say so."""
        self._witness.tell("signal", target=self.pid, signal=number.name)
        if self.alive:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.wait(10)

    def pause(self) -> None:
        self.signal(signal.SIGSTOP)

    @property
    def frozen(self) -> bool:
        return psutil.Process(self.pid).status() == psutil.STATUS_STOPPED

    def resume(self) -> None:
        self.signal(signal.SIGCONT)

    def terminate(self) -> None:
        self.signal(signal.SIGTERM)

    def wait(self, seconds: float) -> int:
        """The exit code; negative is the signal that ended it."""
        deadline = time.monotonic() + seconds
        while (code := self.returncode) is None:
            if time.monotonic() > deadline:
                self.signal(signal.SIGUSR1)
                time.sleep(0.5)
                raise AssertionError(f"{self.name} has not ended within {seconds:g} s; it said:\n{self.output()}")
            time.sleep(0.01)
        return code

    def output(self) -> str:
        return self._output.read_text(errors="replace")[-8000:] if self._output.exists() else ""

    def reap(self) -> None:
        if self.alive:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self.wait(10)


class Fleet:
    """Starts the processes of one run; leaving the `with` block ends every one of them."""

    def __init__(self, url: str, directory: Path, witness: Witness) -> None:
        self.url, self._directory, self._witness = url, directory, witness
        self.members: list[Member] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for member in self.members:
            member.reap()

    @property
    def alive(self) -> list[Member]:
        return [member for member in self.members if member.alive]

    def worker(self, **options: Any) -> Member:
        return self.start("tests.chaos.worker", **options)

    def client(self, **options: Any) -> Member:
        return self.start("tests.chaos.client", **options)

    def start(self, module: str, *, url: str | None = None, clock: float = 0.0, **options: Any) -> Member:
        """`clock` is by how many seconds the process's clock is wrong; the options are the module's own."""
        name = f"{module.rsplit('.', 1)[-1]}-{len(self.members) + 1}"
        output = self._directory / f"{name}.out"
        arguments = ["--url", url or self.url, "--log", str(self._witness.path), "--owner", str(os.getpid())]
        for key, value in options.items():
            arguments += [f"--{key.replace('_', '-')}", str(value)]
        if clock:
            handle = executed("tests.chaos.skewed", [str(clock), module, *arguments], output)
        else:
            handle = Forked(module, arguments, output)
        self.members.append(Member(handle, name, output, self._witness))
        return self.members[-1]

    def inquest(self) -> str:
        """Asks every living member, and the database, what they are doing, and answers all that was said."""
        for member in self.alive:
            member.signal(signal.SIGUSR1)
        time.sleep(0.5)
        return self.outputs() + ("" if self.url.startswith("sqlite:") else _sessions(self.url))

    def outputs(self) -> str:
        return "\n".join(f"--- {member.name}\n{text}" for member in self.members if (text := member.output()))


def _sessions(url: str) -> str:
    """What PostgreSQL is busy with, and who waits for whom."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT pid, state, wait_event_type, wait_event, now() - xact_start, pg_blocking_pids(pid), left(query, 120) "
            "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY xact_start"
        ).fetchall()
    return "\n".join(["", "--- sessions", *map(str, rows)])
