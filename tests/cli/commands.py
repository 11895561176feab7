"""Running commands: most of them in this process, some as real processes."""

import asyncio
import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

from typer.testing import CliRunner

from tests.cli.shop import make_app
from towpath.cli.root import app as cli
from towpath.testing import drain


class Commands:
    """`towpath(...)` runs a command on one database and answers its result; a failing one is shown unless expected."""

    def __init__(self, url):
        self.url = url

    def __call__(self, *args, code=0, stdin=None):
        result = CliRunner().invoke(
            cli, [str(arg) for arg in args], input=stdin, env={"TOWPATH_DATABASE_URL": self.url}, catch_exceptions=False
        )
        assert result.exit_code == code, result.output
        return result

    def json(self, *args, **options):
        return json.loads(self(*args, "--json", **options).stdout)

    def with_app(self, work):
        """Runs `await work(app)` on an open app of the shop."""

        async def inside():
            async with make_app(self.url) as app:
                return await work(app)

        return asyncio.run(inside())

    def enqueue(self, operation, payload=None, **options):
        return self.with_app(lambda app: app.enqueue(operation, payload, **options)).id

    def drain(self):
        return self.with_app(drain)


def words(text):
    """The text with its line breaks and frames taken out, however wide the screen was."""
    return " ".join(text.replace("│", " ").split())


# A test run that was started in the background ignores Ctrl-C, and so would every process that it starts.
_MAIN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from towpath.cli import main; main()"


class Process:
    """A real `towpath` process whose output can be looked at while it runs."""

    def __init__(self, args, cwd, env, terminal):
        command = [sys.executable, "-c", _MAIN, *[str(arg) for arg in args]]
        bare = {name: value for name, value in os.environ.items() if not name.startswith("TOWPATH_")}
        self._outputs = {"out": b"", "err": b""}
        readers = {"err": subprocess.PIPE, "out": subprocess.PIPE}
        if terminal:
            master, slave = pty.openpty()
            readers["out"] = slave
        self.popen = subprocess.Popen(
            command, cwd=cwd, env=bare | (env or {}), stdin=subprocess.DEVNULL, stdout=readers["out"], stderr=readers["err"]
        )
        sources = {"err": self.popen.stderr.fileno(), "out": master if terminal else self.popen.stdout.fileno()}
        if terminal:
            os.close(slave)
        self._threads = [threading.Thread(target=self._read, args=item) for item in sources.items()]
        for thread in self._threads:
            thread.start()

    def _read(self, name, source):
        with contextlib.suppress(OSError):  # the end of a terminal is an error
            while piece := os.read(source, 65536):
                self._outputs[name] += piece

    @property
    def out(self):
        return self._outputs["out"].decode()

    @property
    def err(self):
        return self._outputs["err"].decode()

    def terminate(self):
        self.popen.send_signal(signal.SIGTERM)

    def end(self, timeout=60):
        """Waits for its end; answers its exit code."""
        code = self.popen.wait(timeout)
        for thread in self._threads:
            thread.join(timeout)
        return code


@contextmanager
def started(*args, cwd=None, env=None, terminal=False):
    """A process that is not left behind, in an environment without settings of ours but those given."""
    process = Process(args, cwd, env, terminal)
    try:
        yield process
    finally:
        if process.popen.poll() is None:
            process.popen.kill()
        process.end()
        for stream in (process.popen.stdout, process.popen.stderr):
            if stream is not None:
                stream.close()


_ON_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); " + _MAIN


def on_a_terminal(args, env, *dialogue):
    """Runs a command as somebody at a terminal would, who answers each question when it is asked; answers what was shown."""
    master, slave = pty.openpty()
    bare = {name: value for name, value in os.environ.items() if not name.startswith("TOWPATH_")}
    process = subprocess.Popen(
        [sys.executable, "-c", _ON_TERMINAL, *args], stdin=slave, stdout=slave, stderr=slave, env=bare | env,
        start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    shown, waiting = "", list(dialogue)
    with contextlib.suppress(OSError):  # the end of a terminal is an error
        while piece := os.read(master, 65536):
            shown += piece.decode()
            if waiting and waiting[0][0] in shown:
                os.write(master, f"{waiting.pop(0)[1]}\n".encode())
    os.close(master)
    assert process.wait(60) == 0, shown
    assert not waiting, f"it was not asked for {waiting[0][0]!r}: {shown}"
    return shown


def until(condition, timeout=120.0):
    """Polls until the condition answers something true, and answers that. Patient: the machine may be very busy."""
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return value
