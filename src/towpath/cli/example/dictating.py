"""A text that comes line by line, as from a model that streams its answer."""

from __future__ import annotations

import asyncio
import math
import random
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from towpath.cli.example.documents import TONGUES, sentence
from towpath.engine.running.context import Context

_LINES_PER_PAGE = 10


class Dictation(BaseModel):
    """What to write, and how fast."""

    lines: Annotated[int, Field(ge=1, le=600, description="How many lines.")] = 40
    seconds_per_line: Annotated[float, Field(ge=0, le=10, description="How long each of them takes.")] = 1.0
    tongue: Annotated[Literal["english", "french", "german"], Field(description="In which language.")] = "english"

    @property
    def pages(self) -> int:
        return math.ceil(self.lines / _LINES_PER_PAGE)


async def write_page(ctx: Context, work: Dictation, page: int) -> list[str]:
    """Each line is an event the moment it is there."""
    dice, written = random.Random(f"{ctx.id} {page}"), []
    first = page * _LINES_PER_PAGE
    for number in range(first, min(first + _LINES_PER_PAGE, work.lines)):
        await asyncio.sleep(work.seconds_per_line)
        written.append(sentence(TONGUES[work.tongue], dice))
        await ctx.emit("dictation.line", written[-1], fields={"line": number + 1})
        await ctx.progress(number + 1, work.lines)
    words = sum(len(line.split()) for line in written)
    await ctx.meter(
        model="example-dictation", tokens_in=len(work.tongue), tokens_out=words, cost_cents=round(words / 500, 4)
    )
    return written
