"""The OpenAPI document made complete: every status a route can answer is in it, as the problem document it is.

What a route may answer follows from what it is: who may call it, whether it changes something, whether it takes a body.
Routes only say what is particular to them.
"""

from __future__ import annotations

from typing import Any

from towpath.http.problems import MEDIA_TYPE, TITLES, ProblemDocument

_METHODS = {"get", "put", "post", "delete", "patch", "head", "options"}
_SAFE = {"get", "head", "options"}
_REFERENCE = {"$ref": "#/components/schemas/ProblemDocument"}
_REPLACED = ("HTTPValidationError", "ValidationError")


def completed(document: dict[str, Any]) -> dict[str, Any]:
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for path in document.get("paths", {}).values():
        for method, operation in path.items():
            if method in _METHODS:
                _complete(operation, method)
    for name in _REPLACED:
        schemas.pop(name, None)
    if "ProblemDocument" not in schemas:
        made = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(made.pop("$defs", {}))
        schemas["ProblemDocument"] = made
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    return document


def _complete(operation: dict[str, Any], method: str) -> None:
    found = operation["responses"]
    for status in _common(operation, method):
        if str(status) not in found or status == 422:
            found[str(status)] = {"description": TITLES[status]}
    for status, response in found.items():
        if status.isdigit() and int(status) >= 400:
            response["content"] = {MEDIA_TYPE: {"schema": _REFERENCE}}
    operation["responses"] = dict(sorted(found.items()))


def _common(operation: dict[str, Any], method: str) -> set[int]:
    statuses = {400, 422, 500, 503}
    if "security" in operation:
        statuses |= {401, 403}
    if method not in _SAFE:
        statuses |= {403, 413, 415}  # another site's request; a body that is too large or no JSON
    return statuses
