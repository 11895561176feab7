"""A source file that a page, a docstring or a comment names exists: whoever reads is sent somewhere."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, name_of

PACKAGE = ROOT / "src/towpath"
# How-to pages also name the files of their readers, which `test_examples.py` makes.
PAGES = [ROOT / "CONTRIBUTING.md", DOCS / "architecture.md", DOCS / "reliability-testing.md", *DOCS.glob("decisions/*.md")]
SOURCES = [path for top in ("src", "tests", "bench") for path in sorted((ROOT / top).rglob("*.py"))]
STATEMENTS = sorted(PACKAGE.rglob("*.sql"))
# Names that stand for any file of their kind.
_MADE_UP = re.compile(r"0001_what\.(\w+\.)?sql|x\.(postgres|sqlite)\.sql|functions\.sql|VERSION\.\w+\.sql|shop/.*")
_FILE = re.compile(r"(?<![\w./<*-])((?:[\w.-]+/)*[\w.-]+\.(?:py|sql))\b")
_PLACE = re.compile(r"`((?:\w+/)+[\w.-]*)`")
_FILES = {path.relative_to(ROOT).as_posix() for path in [*SOURCES, *STATEMENTS]}


def _missing_files(text: str) -> list[str]:
    """A bare name may be any file of that name, a path ends where it says."""
    named = [name for name in _FILE.findall(text) if not _MADE_UP.fullmatch(name)]
    return [name for name in named if name not in _FILES and not any(file.endswith(f"/{name}") for file in _FILES)]


def _missing_places(text: str) -> list[str]:
    """Folders and files of ours, in backticks: those that begin with a room, or with a folder of the repository."""
    tops = {path.name for base in (PACKAGE, ROOT) for path in base.iterdir() if path.is_dir()}
    named = [name for name in _PLACE.findall(text) if name.split("/")[0] in tops]
    return [name for name in named if not any((base / name).exists() for base in (PACKAGE, ROOT))]


def _said_in(path: Path) -> str:
    """Docstrings and comments of a module."""
    source = path.read_text("utf-8")
    comments = [
        token.string for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type == tokenize.COMMENT
    ]
    strings = [
        node.value.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    return "\n".join([*comments, *strings])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_source_file_that_is_named_exists(page):
    text = page.read_text("utf-8")
    assert _missing_files(text) + _missing_places(text) == []


def test_every_source_file_that_a_docstring_or_a_comment_names_exists():
    missing = {name_of(path): gone for path in SOURCES if (gone := _missing_files(_said_in(path)))}
    assert missing == {}


def test_every_source_file_that_a_comment_in_sql_names_exists():
    comments = {path: "\n".join(re.findall(r"--[^\n]*", path.read_text("utf-8"))) for path in STATEMENTS}
    missing = {name_of(path): gone for path, text in comments.items() if (gone := _missing_files(text))}
    assert missing == {}


def test_a_file_that_is_gone_is_noticed():
    assert _missing_files("`moves.py` performs the verbs, see core/board.py and `core/verbs.py`") == [
        "moves.py",
        "core/board.py",
    ]
    assert _missing_places("the parts (`assets/uploads`, `store/feeds`, `application/json`)") == ["store/feeds"]
