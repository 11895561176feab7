"""Every batch provider there is an adapter for. None is imported before it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import Any

from towpath.core.errors import ConfigurationError
from towpath.providers.contract import Provider


@dataclass(frozen=True, slots=True)
class Entry:
    module: str
    class_name: str
    extra: str
    """`pip install 'towpath[extra]'` brings the library it needs."""
    task_types: frozenset[str]
    text: str


PROVIDERS: dict[str, Entry] = {}


def make(name: str, **options: Any) -> Provider:
    """The adapter of that name. `options` are its constructor's."""
    entry = PROVIDERS.get(name)
    if entry is None:
        raise ConfigurationError(
            f"no batch provider is named {name[:200]!r}; there are {', '.join(sorted(PROVIDERS)) or 'none'}"
        )
    adapter = getattr(import_module(entry.module), entry.class_name)
    try:
        signature(adapter).bind(**options)
    except TypeError as error:
        raise ConfigurationError(f"{name} is given the wrong options: {error}") from None
    made: Provider = adapter(**options)
    return made
