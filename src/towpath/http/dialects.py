"""Addresses below which errors are told in another API's shape, for programs that were written for that one."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

from fastapi.responses import JSONResponse

from towpath.http.problem import Problem

Speaker = Callable[[Problem, str], JSONResponse]
"""Makes the answer of a problem and the id of the request."""
_speakers: dict[str, Speaker] = {}


def speak(prefix: str, speaker: Speaker) -> None:
    """Declares how errors are told at every address that begins like this one, such as `/v1/`."""
    _speakers[prefix] = speaker


def speaker_at(scope: MutableMapping[str, Any]) -> Speaker | None:
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    below = path[len(root) :] if root and path.startswith(root) else path
    return next((found for prefix, found in _speakers.items() if below.startswith(prefix)), None)
