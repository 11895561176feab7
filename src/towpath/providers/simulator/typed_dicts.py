"""Requests, held against the TypedDicts by which a provider's library describes them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from towpath.providers.simulator.gate import Refusal


def read(shape: Any, value: Any) -> Any:
    """The value, if it has that shape and no field beyond it; a Refusal otherwise."""
    if not isinstance(value, dict):
        raise Refusal("invalid", "the body is no object")
    for name in value:
        if name not in shape.__required_keys__ | shape.__optional_keys__:
            raise Refusal("invalid", f"{name}: Extra inputs are not permitted")
    found, name = {}, ""
    try:
        for name, held in _adapter(shape).validate_python(value).items():
            found[name] = _whole(held)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in (name, *first["loc"][:3]) if part != "")
        raise Refusal("invalid", f"{where}: {first['msg']}") from None
    return found


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def _whole(value: Any) -> Any:
    """Iterables are validated as they are gone through."""
    if isinstance(value, dict):
        return {name: _whole(held) for name, held in value.items()}
    if isinstance(value, (list, tuple, Iterator)):
        return [_whole(held) for held in value]
    return value
