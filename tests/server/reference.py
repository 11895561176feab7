"""Writes docs/reference/http-api.md from the OpenAPI document: python -m tests.server.reference"""

from functools import cache
from pathlib import Path
from typing import Any

from towpath.server import openapi

PAGE = Path(__file__).parents[2] / "docs/reference/http-api.md"

_HEAD = """# HTTP API

Everything the server answers to, made from its OpenAPI document by `python -m tests.server.reference`. A running server has
that document at `/api/openapi.json`, and shows it to people at `/docs`.

Requests and answers are JSON. Who calls is told by `Authorization: Bearer tow_…` or by a browser's session; see
[let people in](../how-to/let-people-in.md). Times are RFC 3339 in UTC. Lists answer `{items, next}`; `next` goes back as
`after=…`. Errors are [problem documents](problems.md); besides those named here, every route may answer 400, 422, 500 and
503, routes that need a log-in 401 and 403, and those that take a body 413 and 415. See
[run the server](../how-to/run-the-server.md) for what stands behind some of them.
"""
_COMMON = {"400", "401", "403", "413", "415", "422", "500", "503"}
_ORDER = ("get", "post", "put", "patch", "delete")


_document = cache(openapi.document)


def page() -> str:
    document = _document()
    groups: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method in sorted(methods, key=_ORDER.index):
            groups.setdefault(methods[method]["tags"][0], []).append(_operation(method, path, methods[method]))
    parts = [_HEAD]
    for tag, operations in groups.items():
        parts += [f"## {tag}\n", *operations]
    return "\n".join([*parts, "## Shapes\n", *_shapes(document["components"]["schemas"])]) + "\n"


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    lines = [f"### `{method.upper()} {path}`\n", _prose(operation.get("description") or operation["summary"])]
    rows = [_parameter(one) for one in operation.get("parameters", []) if one["in"] in ("query", "header")]
    if rows:
        lines += ["", "| parameter | type | meaning |", "|---|---|---|", *rows]
    if body := operation.get("requestBody"):
        [(media, content)] = body["content"].items()
        lines += ["", f"Takes {_type(content['schema']) if media == 'application/json' else f'`{media}`'}."]
    lines += ["", f"Answers {', '.join(_answers(operation['responses']))}.\n"]
    return "\n".join(lines)


def _parameter(one: dict[str, Any]) -> str:
    schema = one["schema"]
    default = f" Default: `{schema['default']}`." if schema.get("default") not in (None, [], "") else ""
    meaning = one.get("description") or schema.get("description") or ""
    name = one["name"] if one["in"] == "query" else f"{one['name']} (header)"
    return f"| `{name}` | {_cell(_type(schema))} | {_cell(_prose(meaning))}{default} |"


def _answers(found: dict[str, Any]) -> list[str]:
    told = []
    for status, answer in found.items():
        content = answer.get("content", {})
        if int(status) >= 400:
            if status not in _COMMON:
                told.append(status)
        elif "application/json" in content:
            told.append(f"{status} {_type(content['application/json']['schema'])}")
        else:
            told.append(f"{status} ({', '.join(content) or 'no content'})")
    return told


def _shapes(schemas: dict[str, Any]) -> list[str]:
    parts = []
    for name, schema in sorted(schemas.items()):
        fields = schema.get("properties")
        if fields is None:
            continue
        parts.append(f"### {name}\n")
        if text := schema.get("description"):
            parts.append(f"{_prose(text)}\n")
        required = set(schema.get("required", []))
        rows = [_field(field, value, field in required) for field, value in fields.items()]
        parts.append("\n".join(["| field | type | meaning |", "|---|---|---|", *rows]) + "\n")
    return parts


def _field(name: str, schema: dict[str, Any], required: bool) -> str:
    meaning = _prose(schema.get("description") or "")
    return f"| `{name}`{'' if required else ' (optional)'} | {_cell(_type(schema))} | {_cell(meaning)} |"


def _type(schema: dict[str, Any]) -> str:
    """In a few words; a shape by its name, with a link to it."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        named = _document()["components"]["schemas"][name]
        return f"[{name}](#{name.lower()})" if "properties" in named else _type(named)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_type(one) for one in schema[key]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}" if "items" in schema else "list"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return {None: "anything", "null": "null", "string": _text(schema)}.get(kind, str(kind))


def _text(schema: dict[str, Any]) -> str:
    return {"date-time": "time", "uuid": "id"}.get(schema.get("format", ""), "text")


def _prose(text: str) -> str:
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _cell(text: str) -> str:
    return text.replace("\n\n", " ").replace("|", "\\|")


def main() -> None:
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
