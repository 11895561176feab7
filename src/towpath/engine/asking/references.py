"""Ids of jobs inside payloads.

A payload field of the type `towpath.JobRef` names a job. Code that calls `app.enqueue` is trusted with it; what comes in
over HTTP is not: there every such id must be a job of the same tenant.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any
from uuid import UUID

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from towpath.engine.registry import Operation
from towpath.store.contract import Store, Tx

_SEEN, _MISSING = "towpath_refs_seen", "towpath_refs_missing"


class _RefersToAJob:
    """Marks a string as the id of a job. The path of one that does not fit comes from pydantic itself."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_after_validator_function(_check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(schema) | {"format": "uuid", "x-towpath": "job"}


def _check(value: str, info: ValidationInfo) -> str:
    try:
        job_id = str(UUID(value))
    except ValueError:
        raise PydanticCustomError("job_ref", "this is not the id of a job") from None
    context = info.context or {}
    if _SEEN in context:
        context[_SEEN].add(job_id)
    if job_id in context.get(_MISSING, ()):
        raise PydanticCustomError("job_ref", "no job has this id")
    return job_id


JobRef = Annotated[str, _RefersToAJob()]
"""A payload field that names a job: `after: JobRef`. Over HTTP it must be a job of the caller's own tenant."""


def refs_in(operation: Operation, payload: Any) -> set[str]:
    """Every job that the payload names; none if it does not fit its type, which enqueueing will say."""
    seen: set[str] = set()
    if operation.adapter is not None:
        try:
            operation.adapter.validate_python(payload, context={_SEEN: seen})
        except ValidationError:
            return set()
    return seen


async def dangling(store: Store, operation: Operation, payload: Any, tenant: str) -> list[tuple[str, str]]:
    """(path, message) of each id in the payload that is no job of this tenant."""
    named = refs_in(operation, payload)
    if not named:
        return []
    missing = named - await _owned(store, named, tenant)
    return _told(operation, payload, missing) if missing else []


async def _owned(store: Store, ids: Iterable[str], tenant: str) -> set[str]:
    async def unit(tx: Tx) -> set[str]:
        return {str(row["id"]) for row in await tx.fetch("owned_among", tenant=tenant, ids=sorted(ids))}

    return await store.read(unit)


def _told(operation: Operation, payload: Any, missing: set[str]) -> list[tuple[str, str]]:
    assert operation.adapter is not None
    try:
        operation.adapter.validate_python(payload, context={_MISSING: missing})
    except ValidationError as error:
        return [(".".join(["payload", *map(str, item["loc"])]), str(item["msg"])) for item in error.errors()]
    return [("payload", "no job has the id " + ", ".join(sorted(missing)))]
