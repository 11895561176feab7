"""The requests of a batch: questions about a canal, the same on every run."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator

from towpath.cli.demo.scenes import Scene
from towpath.cli.example.documents import TONGUES, sentence

_SENTENCES = 3
_LONGEST_ANSWER = 300
BROKEN: tuple[bytes, ...] = (
    b'{"custom_id": "torn", "body": {"messages": [',
    b"This page is no JSON at all.",
    b'{"body": {"messages": [{"role": "user", "content": "Who am I?"}]}}',
    b'{"custom_id": "empty"}',
    b'{"custom_id": "question-1", "body": {"messages": [{"role": "user", "content": "Again?"}]}}',
    b"[1, 2, 3]",
)


async def lines_of(scene: Scene) -> AsyncIterator[bytes]:
    """Lines of JSON; the broken ones come last, and one of them has a name that was taken before."""
    for number in range(1, scene.requests + 1):
        body = {"messages": [{"role": "user", "content": _question(scene, number)}], "max_tokens": _LONGEST_ANSWER}
        yield json.dumps({"custom_id": f"question-{number}", "body": body}).encode() + b"\n"
    for line in BROKEN[: scene.broken]:
        yield line + b"\n"


def _question(scene: Scene, number: int) -> str:
    dice = random.Random(f"{scene.title} {number}")
    told = " ".join(sentence(TONGUES["english"], dice) for _ in range(_SENTENCES))
    return f"{told} What does this have to do with {scene.title[:1].lower()}{scene.title[1:]}?"
