"""Named queries from `.sql` files, written once for both databases.

A file holds queries headed by `-- name: such_and_such`. Parameters are `:name`; `IN :ids` takes a list. Engine tables are
written `towpath.job`: a schema on PostgreSQL, a prefix (`towpath_job`) on SQLite, so that they can share a file with the
user's own tables. `FOR UPDATE …` is dropped for SQLite, where a write transaction is alone anyway. Where the two
databases must differ, `x.postgres.sql` and `x.sqlite.sql` say it per dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from towpath.core.errors import ConfigurationError
from towpath.core.records import JOB_COLUMNS

_HEAD = re.compile(r"^-- name: *([a-z_0-9]+) *$", re.MULTILINE)
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z_0-9]*)")
_IN_LIST = re.compile(r"\bIN +:([a-z_][a-z_0-9]*)", re.IGNORECASE)
_NOT_IN_LIST = re.compile(r"\bNOT +IN +:([a-z_][a-z_0-9]*)", re.IGNORECASE)
_LOCK = re.compile(r"\bFOR +(?:NO KEY +)?UPDATE(?: +OF +\w+)?(?: +SKIP +LOCKED)?", re.IGNORECASE)
# Columns by name: a worker of this release must not trip over a column that a later one has added.
_WHOLE_JOB = f"SELECT {', '.join(JOB_COLUMNS)} FROM towpath.job"
_COMMENT = re.compile(r"--[^\n]*")


@dataclass(frozen=True, slots=True)
class Query:
    """One statement, ready for its database. `names` are the parameters in the order PostgreSQL numbers them."""

    name: str
    text: str
    names: tuple[str, ...]


def compile_query(name: str, source: str, dialect: str) -> Query:
    text = _COMMENT.sub("", source).strip().rstrip(";")
    text = text.replace("SELECT * FROM towpath.job", _WHOLE_JOB)
    names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
    if dialect == "sqlite":
        text = _IN_LIST.sub(r"IN (SELECT value FROM json_each(:\1))", text)
        text = _LOCK.sub("", text).replace("towpath.", "towpath_")
    else:
        numbers = {parameter: index for index, parameter in enumerate(names, 1)}
        text = _IN_LIST.sub(r"= ANY(:\1)", _NOT_IN_LIST.sub(r"<> ALL(:\1)", text))
        text = _PARAMETER.sub(lambda match: f"${numbers[match[1]]}", text)
    return Query(name, text, names)


class Queries:
    """All named queries of one dialect."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self._queries: dict[str, Query] = {}

    def load(self, folder: Traversable) -> None:
        """Adds a folder's files: the common ones first, then those of this dialect, which may replace them."""
        own, other = f".{self.dialect}.sql", ".sqlite.sql" if self.dialect == "postgres" else ".postgres.sql"
        found = sorted((item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name)
        taken = frozenset(self._queries)
        for item in sorted(found, key=lambda item: item.name.endswith(own)):
            if not item.name.endswith(other):
                self.add(item.read_text("utf-8"), taken=taken, where=str(item))

    def add(self, source: str, *, taken: frozenset[str] = frozenset(), where: str = "") -> None:
        parts = _HEAD.split(source)[1:]
        for name, body in zip(parts[::2], parts[1::2], strict=True):
            if name in taken:
                raise ConfigurationError(
                    f"the query {name!r} in {where} has the name of another; put your slice's name before it"
                )
            self._queries[name] = compile_query(name, body, self.dialect)

    def __getitem__(self, name: str) -> Query:
        try:
            return self._queries[name]
        except KeyError:
            raise LookupError(f"there is no query named {name!r} for {self.dialect}") from None

    def names(self) -> Iterable[str]:
        return self._queries.keys()


def engine_queries(dialect: str) -> Queries:
    queries = Queries(dialect)
    queries.load(files("towpath.store") / "queries")
    queries.load(files("towpath.store") / dialect / "sql")
    return queries
