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


_COMPLETION = frozenset({"completion"})

PROVIDERS: dict[str, Entry] = {
    "ANTHROPIC": Entry("towpath.providers.anthropic", "Anthropic", "anthropic", _COMPLETION, "Anthropic's Message Batches"),
    "GEMINI": Entry("towpath.providers.gemini", "Gemini", "google", _COMPLETION, "the Gemini API's batches"),
    "OPENAI": Entry("towpath.providers.openai", "OpenAI", "openai", _COMPLETION, "OpenAI's Batch API"),
    "OPENAI_COMPATIBLE": Entry(
        "towpath.providers.openai_compatible", "OpenAICompatible", "openai", _COMPLETION, "any endpoint that speaks it, too"
    ),
    "VERTEX": Entry("towpath.providers.vertex", "Vertex", "google", _COMPLETION, "Vertex AI's batch prediction with Gemini"),
}


def make(name: str, **options: Any) -> Provider:
    """The adapter of that name. `options` are its constructor's."""
    entry = PROVIDERS.get(name)
    if entry is None:
        raise ConfigurationError(f"no batch provider is named {name[:200]!r}; there are {', '.join(sorted(PROVIDERS))}")
    adapter = getattr(import_module(entry.module), entry.class_name)
    try:
        signature(adapter).bind(**options)
    except TypeError as error:
        raise ConfigurationError(f"{name} is given the wrong options: {error}") from None
    made: Provider = adapter(**options)
    return made
