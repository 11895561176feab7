"""Commands run in a directory and an environment of their own."""

import os
import sys

import pytest

from tests.cli.commands import Commands


@pytest.fixture(autouse=True)
def own_place(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in os.environ:
        if name.startswith("TOWPATH_") and not name.startswith("TOWPATH_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "200")
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(f"{tmp_path}/"):
            del sys.modules[name]


@pytest.fixture
def towpath(sqlite_url):
    """Runs commands on a fresh SQLite database."""
    return Commands(sqlite_url)


@pytest.fixture
def towpath_on_both(database_url):
    """Runs commands on each database in turn."""
    return Commands(database_url)
