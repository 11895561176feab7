"""A process that has everything imported and forks the members of the fleets, so that a new one costs milliseconds.

The owner speaks to it over its standard input, one JSON line per question, and reads one line per answer. When the owner
goes, the pipe ends, and the nursery takes all it has started with it.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

_REPOSITORY = Path(__file__).parents[2]
_MODULES = ("tests.chaos.worker", "tests.chaos.client")


class Nursery:
    """The owner's side."""

    def __init__(self, *modules: str) -> None:
        """`modules` are imported before anything is forked; without any, those of the fleets."""
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.nursery", *(modules or _MODULES)],
            cwd=_REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the owner
        )
        atexit.register(self.close)

    def start(self, module: str, arguments: list[str], output: Path) -> int:
        """The pid of a new process that runs the module's `main`, leading its own session and group."""
        return int(self._ask(start=module, arguments=arguments, output=str(output)))

    def poll(self, pid: int) -> int | None:
        """The exit code, negative for a signal, or None while it runs. The pid stays taken until this was answered."""
        code: int | None = self._ask(poll=pid)
        return code

    def _ask(self, **question: Any) -> Any:
        with self._lock:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        with suppress(OSError):
            self._process.communicate(timeout=10)


_nursery: Nursery | None = None


def nursery() -> Nursery:
    """The one of this process, made when first asked for."""
    global _nursery  # noqa: PLW0603  (one per process is the point)
    if _nursery is None:
        _nursery = Nursery()
    return _nursery


def _serve() -> None:
    for module in sys.argv[1:]:
        import_module(module)
    children: dict[int, int | None] = {}
    for line in sys.stdin.buffer:
        question = json.loads(line)
        if "start" in question:
            answer: int | None = _fork(question)
            children[answer] = None
        else:
            answer = _poll(children, question["poll"])
        os.write(1, json.dumps(answer).encode() + b"\n")
    for pid, code in children.items():
        if code is None:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)


def _poll(children: dict[int, int | None], pid: int) -> int | None:
    if children[pid] is None:
        found, status = os.waitpid(pid, os.WNOHANG)
        children[pid] = os.waitstatus_to_exitcode(status) if found else None
    return children[pid]


def _fork(question: dict[str, Any]) -> int:
    ready, told = os.pipe()
    pid = os.fork()
    if pid:
        os.close(told)
        os.read(ready, 1)  # until it leads its own group: a signal to the group must find it
        os.close(ready)
        return pid
    code = 1
    try:
        os.setsid()
        os.close(ready)
        os.close(told)
        output = os.open(question["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        sys.argv = [question["start"], *question["arguments"]]
        import_module(question["start"]).main()
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
