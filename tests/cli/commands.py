"""Running commands: most of them in this process, some as real processes."""

import asyncio
import json
import os
import subprocess
import sys
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


@contextmanager
def started(*args, cwd=None, env=None, stdin=subprocess.DEVNULL):
    """A real `towpath` process; it is not left behind."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from towpath.cli import main; main()", *[str(arg) for arg in args]],
        cwd=cwd,
        env=os.environ | (env or {}),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=30)


def ended(process, timeout=60):
    """Its exit code and what it wrote."""
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def until(condition, timeout=30.0):
    """Polls until the condition answers something true, and answers that."""
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return value
