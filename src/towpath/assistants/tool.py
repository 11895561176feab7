"""What a tool is: a name, what it takes, and what it does with the API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from towpath.assistants.api import Api, LocalFiles

Report = Callable[[float, float | None, str], Awaitable[None]]
"""Tells how far something is: so much of so much, in words."""


class Arguments(BaseModel):
    """What a tool takes; an argument that it does not know is refused, because it was meant to do something."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: by whom, and whom to tell how far it is."""

    api: Api
    files: LocalFiles
    report: Report


@dataclass(frozen=True, slots=True)
class Tool:
    """`changes` is whether it makes anything other than it was; `undoes`, whether it ends something for good."""

    name: str
    title: str
    description: str
    takes: type[Arguments]
    run: Callable[[Call, Any], Awaitable[dict[str, Any]]]
    changes: bool = False
    undoes: bool = False
