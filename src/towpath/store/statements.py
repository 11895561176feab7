"""Cuts a file of SQL into its statements, for drivers that take one at a time."""

from __future__ import annotations

import re

_ENDS = re.compile(
    r"""
      '(?:[^']|'')*' | "(?:[^"]|"")*"                                           # literals and quoted names
    | --[^\n]* | /\*.*?\*/                                                      # comments
    | (?P<tag>\$\w*\$).*?(?P=tag)                                               # the body of a PostgreSQL function
    | \bCREATE\s+(?:TEMP\w*\s+)?TRIGGER\b[^;]*?\bBEGIN\b.*?;\s*END\b             # the body of a SQLite trigger
    | (?P<end>;)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_LEADING_COMMENTS = re.compile(r"(?:\s*(?:--[^\n]*(?:\n|$)|/\*.*?\*/))*\s*", re.DOTALL)


def statements(sql: str) -> list[str]:
    """The statements of a file: cut at semicolons, but not at those inside literals, comments and bodies."""
    cuts = [match.start() for match in _ENDS.finditer(sql) if match["end"]]
    pieces = [sql[start:end] for start, end in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(sql)], strict=True)]
    bare = [piece[_LEADING_COMMENTS.match(piece).end() :].strip() for piece in pieces]  # type: ignore[union-attr]  # it matches ""
    return [piece for piece in bare if piece]
