"""What the framework cannot say about itself in the OpenAPI document."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

_STREAM = "text/event-stream"


def install(api: FastAPI) -> None:
    make = api.openapi

    def openapi() -> dict[str, Any]:
        document = make()
        for methods in document["paths"].values():
            for operation in methods.values():
                for answer in operation["responses"].values():
                    _describe_stream(answer.get("content", {}))
        return document

    api.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to change it


def _describe_stream(content: dict[str, Any]) -> None:
    """A stream is text; the shapes of its messages stand beside it, because OpenAPI 3.1 has no place for them."""
    schema = content.get(_STREAM, {}).get("schema", {})
    if "anyOf" in schema:
        content[_STREAM] = {"schema": {"type": "string"}, "x-messages": {"anyOf": schema["anyOf"]}}
