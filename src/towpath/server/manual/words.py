"""Parts of an OpenAPI document in words, as HTML."""

from __future__ import annotations

import re
from html import escape
from typing import Any

Schemas = dict[str, dict[str, Any]]

_KINDS = {None: "anything", "null": "null", "boolean": "true or false", "integer": "whole number", "number": "number"}
_FORMATS = {"date-time": "time", "uuid": "id", "binary": "bytes"}


def prose(text: str) -> str:
    """Paragraphs, with what stands in backticks as code."""
    parts = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
    return "".join(f"<p>{marked(part)}</p>" for part in parts)


def marked(text: str) -> str:
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(" ".join(text.split())))


def kind_of(schema: dict[str, Any], schemas: Schemas) -> str:
    """What a value is, in a few words; a shape by its name, with a link to it."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        shape = schemas.get(name, {})
        return (
            f'<a href="docs#shape-{escape(name)}">{escape(name)}</a>' if "properties" in shape else kind_of(shape, schemas)
        )
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(kind_of(one, schemas) for one in schema[key]))
    if "enum" in schema or "const" in schema:
        return ", ".join(f"<code>{escape(str(one))}</code>" for one in schema.get("enum", [schema.get("const")]))
    return _plain_kind(schema, schemas)


def _plain_kind(schema: dict[str, Any], schemas: Schemas) -> str:
    kind = schema.get("type")
    if kind == "array":
        return f"list of {kind_of(schema['items'], schemas)}" if "items" in schema else "list"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {kind_of(schema['additionalProperties'], schemas)}"
    if kind == "string":
        return _FORMATS.get(schema.get("format", ""), "text")
    return _KINDS.get(kind, str(kind))
