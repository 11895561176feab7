"""Every example in the documentation runs, and prints what the page says it prints."""

import runpy
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.docs.pages import DOCS, PAGES, blocks, name_of, write_files
from towpath import App, Settings

RUNNABLE = [page for page in PAGES if blocks(page, "python") and DOCS / "decisions" not in page.parents]


def _needs_postgres(page):
    return any("DATABASE_URL" in block.text and "psycopg" in block.text for block in blocks(page, "python"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working directory whose modules are forgotten afterwards."""
    place = tmp_path / "page"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(place)
    monkeypatch.delenv("TOWPATH_DATABASE_URL", raising=False)
    monkeypatch.setenv("WEBHOOK_SECRET", "")  # a page sets it; so it is gone afterwards
    yield place
    for name, module in list(sys.modules.items()):
        origins = [getattr(module, "__file__", None), *getattr(module, "__path__", [])]
        if any(str(origin).startswith(str(place)) for origin in origins):
            del sys.modules[name]


@pytest.mark.parametrize("page", RUNNABLE, ids=name_of)
def test_the_examples_of_a_page_run(page, folder, request, monkeypatch, capsys):
    if _needs_postgres(page):
        monkeypatch.setenv("DATABASE_URL", request.getfixturevalue("postgres_url"))
    files = write_files(page, folder)
    example = folder / "example.py"
    if example in files:
        runpy.run_path(str(example), run_name="__main__")
    printed = "".join(block.text for block in blocks(page, "output"))
    assert capsys.readouterr().out == printed
    _run_tests([path for path in files if path.name.startswith("test_")], folder)


def _run_tests(tests: list[Path], folder: Path) -> None:
    if not tests:
        return
    (folder / "pytest.ini").write_text(
        "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, tests)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def loose_sql():
    """SQL that a page shows on its own, for people to run on PostgreSQL; the rest is part of some example."""
    return [(name_of(page), block) for page in PAGES for block in blocks(page, "sql") if block.file is None]


async def test_the_sql_of_the_pages_runs_on_postgresql(postgres_url, tmp_path, loose_sql):
    app = App(postgres_url, settings=Settings(blobs_url=(tmp_path / "blobs").as_uri()))
    async with app:
        pass
    assert loose_sql
    with psycopg.connect(postgres_url) as connection:
        for page, block in loose_sql:
            try:
                connection.execute(block.text)
            except psycopg.Error as error:
                pytest.fail(f"{page}:{block.line}: {error}")
            connection.rollback()
