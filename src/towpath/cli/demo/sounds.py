"""What is transcribed: sounds that are made here, the same on every run, and one of somebody reading."""

from __future__ import annotations

import io
import math
import random
import struct
import wave
from collections.abc import AsyncIterator

from towpath import assets
from towpath.cli.demo.scenes import SAMPLE, Scene
from towpath.engine.app import App
from towpath.models.moonshine_files import package
from towpath.outbound.sources import is_address

_RATE, _SECONDS, _LOUD = 8000, 2, 12_000


async def inputs_of(app: App, scene: Scene) -> list[str]:
    """Addresses as they are, and the ids of what is uploaded: of a sound that is named twice the same one."""
    uploaded: dict[str, str] = {}
    for name in scene.inputs:
        if not is_address(name) and name not in uploaded:
            kept = await assets.receive(app, scene.tenant, name, _pieces(name), kinds=assets.MEDIA, created_by=None)
            uploaded[name] = kept.id
    return [uploaded.get(name, name) for name in scene.inputs]


async def _pieces(name: str) -> AsyncIterator[bytes]:
    yield (package() / "assets" / name).read_bytes() if name == SAMPLE else _horn(name)


def _horn(name: str) -> bytes:
    """A tone that dies away, of a pitch of its own."""
    pitch = random.Random(name).uniform(90, 700)
    count = _RATE * _SECONDS
    values = (_LOUD * math.exp(-3 * n / count) * math.sin(2 * math.pi * pitch * n / _RATE) for n in range(count))
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes(b"".join(struct.pack("<h", round(value)) for value in values))
    return written.getvalue()
