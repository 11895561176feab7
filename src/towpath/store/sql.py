"""Named queries from `.sql` files, written once for both databases.

A file holds queries headed by `-- name: such_and_such`. Parameters are `:name`; `IN :ids` takes a list. Engine tables are
written `towpath.job`: a schema on PostgreSQL, a prefix (`towpath_job`) on SQLite, so that they can share a file with the
user's own tables. `FOR UPDATE …` is dropped for SQLite, where a write transaction is alone anyway. Where the two
databases must differ, `x.postgres.sql` and `x.sqlite.sql` say it per dialect.

The engine's own files also hold fragments, headed by `-- fragment: such_and_such`. A fragment is put wherever a query of the
engine says `{such_and_such}`; so are those of `columns.py` and `sums.py`, which are made of lists of columns. A query for
both databases may name a fragment that each of them writes in its own way. `SELECT * FROM towpath.job` becomes a list of
names, in anybody's query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from towpath.core.errors import ConfigurationError
from towpath.core.records import JOB_COLUMNS
from towpath.store.columns import filled, fragments

_HEAD = re.compile(r"^-- (name|fragment): *([a-z_0-9]+) *$", re.MULTILINE)
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z_0-9]*)")
_IN_LIST = re.compile(r"\bIN +:([a-z_][a-z_0-9]*)", re.IGNORECASE)
_NOT_IN_LIST = re.compile(r"\bNOT +IN +:([a-z_][a-z_0-9]*)", re.IGNORECASE)
_IN_LEASED = re.compile(r"(?<!NOT )\bIN +\((SELECT job_id FROM towpath\.lease[^()]*)\)", re.IGNORECASE)
_LOCK = re.compile(r"\bFOR +(?:NO KEY +)?UPDATE(?: +OF +\w+)?(?: +SKIP +LOCKED)?", re.IGNORECASE)
_LOCKS = re.compile(r"^SELECT\b.*\bFOR UPDATE$", re.DOTALL)
# A whole job is written with a star, and asked for by the names of its columns: a worker of this release must not trip over
# a column that a later one has added.
_WHOLE_JOB = re.compile(r"\bSELECT \* FROM towpath\.job\b")
_NAMED_JOB = f"SELECT {', '.join(JOB_COLUMNS)} FROM towpath.job"
_NUMBER = re.compile(r"\$(\d+)")
_BYTEWISE = ' COLLATE "C"'  # as SQLite compares texts in any case
_COMMENT = re.compile(r"--[^\n]*")


@dataclass(frozen=True, slots=True)
class Query:
    """One statement, ready for its database.

    `names` are the parameters in the order in which PostgreSQL numbers them. `own`: it is the engine's, and planned under
    the engine's settings (decision 0022); those of slices are not. `locks`: it locks rows on PostgreSQL and answers, as
    `locked_at`, when it had the last of them. The transaction goes on from that time: `now()` there is when it began, which
    may be long before, if it had to wait for a lock."""

    name: str
    text: str
    names: tuple[str, ...]
    own: bool = False
    locks: bool = False


def compile_query(name: str, source: str, dialect: str, *, own: bool = False, parts: dict[str, str] | None = None) -> Query:
    text = filled(source, fragments(dialect) | (parts or {})) if own else source  # in a slice, braces are its own
    text = _COMMENT.sub("", _WHOLE_JOB.sub(_NAMED_JOB, text)).strip().rstrip(";")
    names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
    if dialect == "sqlite":
        text = _IN_LIST.sub(r"IN (SELECT value FROM json_each(:\1))", text)
        text = _LOCK.sub("", text).replace("towpath.", "towpath_").replace(_BYTEWISE, "")
    else:
        numbers = {parameter: index for index, parameter in enumerate(names, 1)}
        # The few leases first, as an array, then their jobs by id: a join could begin with all jobs.
        text = _IN_LEASED.sub(r"= ANY (ARRAY (\1))", text)
        text = _IN_LIST.sub(r"= ANY(:\1)", _NOT_IN_LIST.sub(r"<> ALL(:\1)", text))
        text = _PARAMETER.sub(lambda match: f"${numbers[match[1]]}", text)
        if own and _LOCKS.search(text):
            return Query(
                name, f"SELECT locked.*, clock_timestamp() AS locked_at FROM ({text}) AS locked", names, own, locks=True
            )
    return Query(name, text, names, own)


def together(queries: Sequence[Query]) -> Query:
    """One statement for PostgreSQL that does what all of them do. Each sees the database as it was before the first."""
    names = tuple(dict.fromkeys(name for query in queries for name in query.names))

    def renumbered(query: Query) -> str:
        return _NUMBER.sub(lambda match: f"${names.index(query.names[int(match[1]) - 1]) + 1}", query.text)

    *others, last = queries
    before = ", ".join(f"{query.name}_done AS ({renumbered(query)})" for query in others)
    return Query(last.name, f"WITH {before} {renumbered(last)}", names, all(query.own for query in queries))


class Queries:
    """All named queries of one dialect."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.fragments: dict[str, str] = {}
        self._queries: dict[str, Query] = {}
        self._together: dict[tuple[str, ...], Query] = {}

    def load(self, folder: Traversable, *, own: bool = False) -> None:
        """Adds a folder's files: the common ones first, then those of this dialect, which may replace them."""
        reserved = frozenset(self._queries)
        for where, text in self._sources(folder):
            self.add(text, reserved=reserved, where=where, own=own)

    def load_fragments(self, folder: Traversable) -> None:
        """Adds a folder's fragments, which the queries that are added after this may name."""
        for _, text in self._sources(folder):
            self.fragments |= {name: body.strip() for name, body in _parts(text, "fragment")}

    def _sources(self, folder: Traversable) -> list[tuple[str, str]]:
        ours, other = f".{self.dialect}.sql", ".sqlite.sql" if self.dialect == "postgres" else ".postgres.sql"
        found = sorted((item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name)
        return [
            (str(item), item.read_text("utf-8"))
            for item in sorted(found, key=lambda item: item.name.endswith(ours))
            if not item.name.endswith(other)
        ]

    def add(self, source: str, *, reserved: frozenset[str] = frozenset(), where: str = "", own: bool = False) -> None:
        for name, body in _parts(source, "name"):
            if name in reserved:
                raise ConfigurationError(
                    f"the query {name!r} in {where} has the name of another; put your slice's name before it"
                )
            self._queries[name] = compile_query(name, body, self.dialect, own=own, parts=self.fragments)

    def __getitem__(self, name: str) -> Query:
        try:
            return self._queries[name]
        except KeyError:
            raise LookupError(f"there is no query named {name!r} for {self.dialect}") from None

    def together(self, names: tuple[str, ...]) -> Query:
        """Several that are sent as one; see `together`."""
        if names not in self._together:
            self._together[names] = together([self[name] for name in names])
        return self._together[names]

    def names(self) -> Iterable[str]:
        return self._queries.keys()


def _parts(source: str, kind: str) -> list[tuple[str, str]]:
    """Names and bodies of the queries, or of the fragments, in a file."""
    cut = _HEAD.split(source)[1:]
    return [(name, body) for head, name, body in zip(cut[::3], cut[1::3], cut[2::3], strict=True) if head == kind]


def engine_queries(dialect: str) -> Queries:
    queries = Queries(dialect)
    folders = (files("towpath.store") / "queries", files("towpath.store") / dialect / "sql")
    for folder in folders:
        queries.load_fragments(folder)
    for folder in folders:
        queries.load(folder, own=True)
    return queries
