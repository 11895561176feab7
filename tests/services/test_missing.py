"""What a run left out is told at its end: each missing thing once, and how to get it."""

import os
import subprocess
import sys

from tests.docs.pages import ROOT
from tests.services.missing import left_out

PAGE = """
import pytest
from tests.services.missing import lacking

@pytest.mark.parametrize("number", range(3))
def test_of_pages(number):
    lacking("chromium", "apt-get install chromium")

def test_of_speech():
    lacking("espeak-ng", "apt-get install espeak-ng")

def test_of_something_else():
    pytest.skip("the kernel of this machine does not say")

def test_that_runs(): ...
"""


def run(folder, **env):
    (folder / "test_page.py").write_text(PAGE)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.conftest",
        "-q",
        "-n",
        "2",
        "-c",
        ROOT / "pyproject.toml",
        folder,
    ]
    bare = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST_")}
    return subprocess.run(command, cwd=ROOT, env=bare | env, capture_output=True, text=True, timeout=120, check=False)


def test_a_run_ends_with_what_it_left_out_and_the_commands_that_would_bring_it(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout[done.stdout.index("left out") :]
    assert "3 tests for want of chromium: apt-get install chromium" in told
    assert "1 test for want of espeak-ng: apt-get install espeak-ng" in told
    assert "1 test: the kernel of this machine does not say" in told
    assert told.count("chromium") == 2


def test_where_ci_is_true_a_missing_thing_is_a_failure(tmp_path):
    done = run(tmp_path, CI="true")
    assert done.returncode == 1
    assert "chromium must be there where CI=true: apt-get install chromium" in done.stdout
    assert "4 failed" in done.stdout


def test_a_run_that_left_nothing_out_says_nothing_of_it():
    assert left_out([]) == []
