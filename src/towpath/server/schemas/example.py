"""Shapes of the example."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from towpath.server.schemas.base import Answer


class Example(Answer):
    present: Annotated[bool, Field(description="Whether jobs or schedules of the example are there.")]
    demonstration: Annotated[bool, Field(description="Whether everything here is made up, as by `towpath demo`.")]


class RemovedExample(Answer):
    jobs: int
    schedules: int
    left: Annotated[int, Field(description="Jobs that are still being stopped.")]
