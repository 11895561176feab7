"""Writes docs/reference/problems.md from the kinds of problems themselves: python -m tests.docs.problems"""

from tests.docs.pages import DOCS
from towpath.http.problem_kinds import KINDS, Kind

PAGE = DOCS / "reference/problems.md"

_HEAD = """# Problems

Everything the server refuses or fails at is answered by a problem document (RFC 9457, `application/problem+json`). This page
is made from the kinds of problems themselves by `python -m tests.docs.problems`.

| field | what it is |
|---|---|
| `type` | `/problems/` and one of the names below. They stay as they are, so that a program can go by them |
| `title`, `status` | the same for every problem of its sort |
| `detail` | what happened, and what was given |
| `remedy` | what to do about it, or null |
| `instance` | the id of the request; the answer's `X-Request-Id` and the server's log have it too |
| `errors` | for what does not fit: `path` and `message` of each part |

A server explains each kind at that address. Below a base path, put the path in front: `/towpath/problems/not_found`. There
is never a stack trace in a problem, nor whether something of another tenant exists.
"""


def page() -> str:
    return "\n".join([_HEAD, *(_section(name, kind) for name, kind in KINDS.items())])


def _section(name: str, kind: Kind) -> str:
    return f"## {name}\n\nStatus {', '.join(map(str, kind.statuses))}. {kind.meaning}\n\n{kind.remedy}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
