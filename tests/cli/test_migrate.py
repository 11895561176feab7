"""towpath migrate."""

from pathlib import Path

SLICE_APP = """
from pathlib import Path
from towpath import App, Slice

app = App()
app.add_slice(Slice("shelf", Path(__file__).parent / "shelf"))
"""


def test_missing_migrations_are_told_applied_and_then_gone(towpath_on_both):
    if towpath_on_both.url.startswith("sqlite"):
        assert "there is no database yet" in towpath_on_both("migrate", "--check", code=1).stderr
    else:
        assert "missing engine 0001" in towpath_on_both("migrate", "--check", code=1).stdout
    assert "applied engine 0001 engine" in towpath_on_both("migrate").stdout
    assert towpath_on_both("migrate").stdout == "the database is up to date\n"
    assert towpath_on_both("migrate", "--check").stdout == "the database is up to date\n"


def test_checking_makes_no_database(towpath, tmp_path):
    towpath("migrate", "--check", code=1)
    assert not (tmp_path / "jobs.db").exists()


def test_the_slices_of_an_app_are_migrated_with_it(towpath):
    Path("shelf").mkdir()
    Path("shelf/0001_books.sql").write_text("CREATE TABLE book (title text NOT NULL);")
    Path("library_app.py").write_text(SLICE_APP)
    on_here = ("--app", "library_app:app", "--database", towpath.url)
    towpath("migrate")
    assert towpath("migrate", "--check", *on_here, code=1).stdout == "missing shelf 0001 books\n"
    assert towpath("migrate", *on_here).stdout == "applied shelf 0001 books\n"
    assert towpath("migrate", "--check", *on_here).stdout == "the database is up to date\n"
