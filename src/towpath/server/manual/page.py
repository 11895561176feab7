"""The page: an entry for each operation, by tag, and one for each shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files
from typing import Any

from towpath.server.manual.words import Schemas, kind_of, marked, prose

STYLE = (files("towpath.server") / "manual" / "style.css").read_text("utf-8")

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<base href="{base}"><title>HTTP API · Towpath</title>{icon}
<link rel="stylesheet" href="docs/style.css"></head>
<body>
<header><h1>HTTP API</h1>
<p>Version {version}. Requests and answers are JSON. Programs send <code>Authorization: Bearer tow_…</code>; tokens are made
under <a href="settings/tokens">settings</a>. Errors are problem documents, whose <code>type</code> leads to a page
about them.
The same for programs: <a href="api/openapi.json">OpenAPI</a>.</p></header>
<nav aria-label="Parts of the API"><ul>{contents}<li><a href="docs#shapes">Shapes</a></li></ul></nav>
<main>{parts}<section id="shapes"><h2>Shapes</h2>{shapes}</section></main>
</body></html>
"""
_ICON = '<link rel="icon" href="mark.svg" type="image/svg+xml">'
"""The UI's own, so only where it is served."""
_COMMON = frozenset({"400", "401", "403", "413", "415", "422", "500", "503"})
"""What any operation may answer; the page says it once, by saying that errors are problem documents."""


def page(document: dict[str, Any], base: str, *, ui: bool) -> str:
    """`base` is the path that the server is mounted at, with a slash at its end; `ui`, whether the web UI is there."""
    schemas: Schemas = document["components"]["schemas"]
    groups: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tag = operation.get("tags", ["other"])[0]
            groups.setdefault(tag, []).append(_operation(method, path, operation, schemas))
    return _PAGE.format(
        base=escape(base, quote=True),
        icon=_ICON if ui else "",
        version=escape(document["info"]["version"]),
        contents="".join(f'<li><a href="docs#{escape(tag)}">{escape(tag.title())}</a></li>' for tag in groups),
        parts="".join(_section(tag, operations) for tag, operations in groups.items()),
        shapes="".join(_shape(name, shape, schemas) for name, shape in sorted(schemas.items()) if "properties" in shape),
    )


def _section(tag: str, operations: Iterable[str]) -> str:
    return f'<section id="{escape(tag)}"><h2>{escape(tag.title())}</h2>{"".join(operations)}</section>'


def _operation(method: str, path: str, operation: dict[str, Any], schemas: Schemas) -> str:
    name = escape(operation["operationId"])
    said = operation.get("description") or operation.get("summary", "")
    first, _, more = said.partition("\n\n")
    inside = [prose(more), _parameters(operation, schemas), _body(operation, schemas), _answers(operation, schemas)]
    who = "" if operation.get("security") else "<p>Open to everybody.</p>"
    return (
        f'<details id="{name}"><summary><b class="{method}">{method.upper()}</b> <code>{escape(path)}</code> '
        f"<span>{marked(first)}</span></summary><div>{''.join(inside)}{who}</div></details>"
    )


def _parameters(operation: dict[str, Any], schemas: Schemas) -> str:
    rows = []
    for one in operation.get("parameters", []):
        schema = one["schema"]
        note = one.get("description") or schema.get("description") or ""
        default = schema.get("default")
        after = f" Default: <code>{escape(str(default))}</code>." if default not in (None, [], "") else ""
        where = "" if one["in"] == "query" else f" ({escape(one['in'])})"
        rows.append((f"<code>{escape(one['name'])}</code>{where}", kind_of(schema, schemas), marked(note) + after))
    return _table("Parameter", rows)


def _body(operation: dict[str, Any], schemas: Schemas) -> str:
    taken = []
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        shape = kind_of(content["schema"], schemas)
        taken.append(shape if media == "application/json" else f"<code>{escape(media)}</code>")
    return f"<p>Takes {', '.join(taken)}.</p>" if taken else ""


def _answers(operation: dict[str, Any], schemas: Schemas) -> str:
    told = [text for status, answer in operation["responses"].items() for text in _answer(status, answer, schemas)]
    return f"<p>Answers {', '.join(told)}.</p>"


def _answer(status: str, answer: dict[str, Any], schemas: Schemas) -> Iterator[str]:
    content = answer.get("content", {})
    if "application/json" in content:
        yield f"<b>{status}</b> {kind_of(content['application/json']['schema'], schemas)}"
    elif int(status) < 400:
        yield f"<b>{status}</b> {escape(', '.join(content)) or 'without content'}"
    elif status not in _COMMON:
        yield f"<b>{status}</b> {escape(answer.get('description', '').lower())}"


def _shape(name: str, shape: dict[str, Any], schemas: Schemas) -> str:
    needed = set(shape.get("required", []))
    rows = [
        (f"<code>{escape(field)}</code>{'' if field in needed else ' (optional)'}", kind_of(value, schemas),
         marked(value.get("description", "")))
        for field, value in shape["properties"].items()
    ]  # fmt: skip
    return f'<h3 id="shape-{escape(name)}">{escape(name)}</h3>{prose(shape.get("description", ""))}{_table("Field", rows)}'


def _table(first: str, rows: list[tuple[str, str, str]]) -> str:
    if not rows:
        return ""
    body = "".join(f"<tr><td>{name}</td><td>{kind}</td><td>{note}</td></tr>" for name, kind, note in rows)
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{first}s"><table><thead><tr><th scope="col">{first}</th>'
        f'<th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>{body}</tbody></table></div>'
    )
