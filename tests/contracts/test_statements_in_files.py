"""SQL is in `.sql` files. What is left of it in Python cannot be there: it is made of a list, or is about the connection."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import towpath

PACKAGE = Path(towpath.__file__).parent
_STATEMENT = re.compile(
    r"\b(SELECT\s.+|INSERT\s+INTO\b|UPDATE\s+[\w.]+\s.*\bSET\b|DELETE\s+FROM\b|CREATE\s+(TABLE|SCHEMA|INDEX|VIEW|TRIGGER|TEMP)\b"
    r"|ALTER\s+TABLE\b|DROP\s+(TABLE|INDEX|VIEW)\b|TRUNCATE\s+\w|FROM\s+\w+\s+WHERE\b)",
    re.DOTALL,
)
_CONTROL = re.compile(r"^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA|SET LOCAL)\b")

MADE_OF_A_LIST = {
    "store/sql.py": "makes each database's own SQL of what the files say",
    "store/postgres/tx.py": "an update has the columns that have changed",
    "store/sqlite/tx.py": "an update has the columns that have changed, an insert all that a new job has",
    "store/sqlite/bulk.py": "an insert of so many rows, with all columns that a new job has",
}
ABOUT_THE_CONNECTION = {
    "store/sqlite/connection.py": "pragmas, and what SQLite itself is asked when a file is opened",
    "store/sqlite/writer.py": "begins and ends transactions",
    "store/sqlite/store.py": "begins and ends transactions",
    "store/postgres/tx.py": "switches a setting of the planner within a transaction",
}


def _texts(tree: ast.Module) -> Iterator[str]:
    """Every string but docstrings; the fixed parts of one that is put together are one text, with `{}` between them."""
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped.update(map(id, node.values))
            yield "{}".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def _files_with(pattern: re.Pattern[str]) -> set[str]:
    return {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(pattern.search(text) for text in _texts(ast.parse(path.read_text("utf-8"))))
    }


def test_a_statement_in_python_is_made_of_a_list_of_columns_or_asks_sqlite_about_itself():
    assert _files_with(_STATEMENT) == MADE_OF_A_LIST.keys() | {"store/sqlite/connection.py"}


def test_transactions_and_settings_of_a_connection_are_left_to_the_stores():
    assert _files_with(_CONTROL) == ABOUT_THE_CONNECTION.keys()


def test_what_is_made_of_a_list_holds_no_statement_that_is_fixed():
    for name in MADE_OF_A_LIST.keys() - {"store/sql.py"}:
        texts = _texts(ast.parse((PACKAGE / name).read_text("utf-8")))
        assert [text for text in texts if _STATEMENT.search(text) and "{" not in text] == [], name


def test_a_statement_is_recognised():
    module = ast.parse(
        '"""SELECT a docstring"""\nx = "SELECT 1"\ny = f"UPDATE towpath.job SET {x} WHERE id = 1"\nz = "select one"'
    )
    assert [bool(_STATEMENT.search(text)) for text in _texts(module)] == [True, True, False]
