"""What an answer says it has used, in the words of whoever gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_IN = ("prompt_tokens", "input_tokens", "promptTokenCount")
_OUT = ("completion_tokens", "output_tokens", "candidatesTokenCount")


def tokens_in_answer(response: Any) -> tuple[int | None, int | None]:
    """Tokens read and written; None where it does not say."""
    if not isinstance(response, Mapping):
        return None, None
    usage = response.get("usage", response.get("usageMetadata"))
    if not isinstance(usage, Mapping):
        return None, None
    return _first(usage, _IN), _first(usage, _OUT)


def _first(usage: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    return next((value for name in names if isinstance(value := usage.get(name), int)), None)
