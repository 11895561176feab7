"""Every example in the documentation runs, and prints what the page says it prints."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.docs.pages import DOCS, PAGES, blocks, name_of, write_files
from towpath import App, Settings

RUNNABLE = [page for page in PAGES if blocks(page, "python") and DOCS / "decisions" not in page.parents]

TESTED = [page for page in RUNNABLE if any((block.file or "").startswith("test_") for block in blocks(page, "python"))]


def _needs_postgres(page):
    return any("DATABASE_URL" in block.text and "psycopg" in block.text for block in blocks(page, "python"))


class Reader:
    """Somebody with an empty folder, Python and Towpath, and nothing of this repository: no settings, no configuration."""

    def __init__(self, folder: Path, **env: str):
        self.folder = folder
        folder.mkdir()
        bare = {name: value for name, value in os.environ.items() if not name.startswith(("TOWPATH_", "PYTEST_"))}
        self.env = bare | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{bare['PATH']}"} | env

    def types(self, *command: str) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=150, check=False
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.mark.parametrize("page", RUNNABLE, ids=name_of)
def test_the_examples_of_a_page_run_for_a_reader_with_an_empty_folder(page, tmp_path, request):
    database = {"DATABASE_URL": request.getfixturevalue("postgres_url")} if _needs_postgres(page) else {}
    reader = Reader(tmp_path / "page", **database)
    files = [str(path.relative_to(reader.folder)) for path in write_files(page, reader.folder)]
    printed = reader.types("python", "example.py") if "example.py" in files else ""
    assert printed == "".join(block.text for block in blocks(page, "output"))
    ran = "".join(block.text for block in blocks(page, "python") if block.file is None)
    for module in (name.removesuffix(".py").replace("/", ".") for name in files if name.endswith(".py")):
        if not module.startswith(("example", "test_")) and f"import {module}" not in ran and f"from {module} " not in ran:
            reader.types("python", "-c", f"import {module}")


@pytest.mark.parametrize("page", TESTED, ids=name_of)
def test_the_tests_of_a_page_pass_by_the_command_it_gives(page, tmp_path):
    reader = Reader(tmp_path / "page")
    tests = [path for path in write_files(page, reader.folder) if path.name.startswith("test_")]
    [command] = [line for block in blocks(page, "sh") for line in block.text.splitlines() if line.startswith("pytest")]
    outcome = reader.types(*shlex.split(command, comments=True))
    written = sum(path.read_text("utf-8").count("def test_") for path in tests)
    assert f"{written} passed" in outcome
    assert "warning" not in outcome


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
