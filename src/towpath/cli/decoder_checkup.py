"""How well the decoder of this machine is locked in, for `towpath doctor`: found by decoding, not by asking for versions."""

from __future__ import annotations

import asyncio
import tempfile
import wave
from collections.abc import Collection, Sequence
from contextlib import aclosing
from pathlib import Path

from towpath.assets.decoding import Decoding
from towpath.assets.errors import MediaUnreadable
from towpath.assets.limits import PROBING
from towpath.core.errors import ConfigurationError, Transient
from towpath.engine.asking.findings import Finding, note, ok, problem
from towpath.walls.lock import WALLS

_TOPIC = "decoder"
REMEDY = "let workers run on Linux 5.13 or later in a place that allows seccomp, or as a user of their own that owns little"


async def checkup(walls: Sequence[str] = WALLS) -> list[Finding]:
    """Decodes an instant of silence as any stranger's file, and tells what it would have been kept from."""
    with tempfile.NamedTemporaryFile(prefix="towpath-") as file:
        await asyncio.to_thread(_silence, file.name)
        running = Decoding(Path(file.name), PROBING, walls=walls)
        try:
            async with aclosing(running.pieces()) as pieces:
                async for _ in pieces:
                    pass
        except ConfigurationError:
            return [ok(_TOPIC, "none is installed; towpath[local] brings one")]
        except (MediaUnreadable, Transient) as error:
            return [problem(_TOPIC, f"it does not work: {error}", "reinstall towpath[local]; nothing can be transcribed")]
    return [_described(running.walls)]


def _silence(path: str) -> None:
    with wave.open(path, "wb") as target:
        target.setnchannels(1)
        target.setsampwidth(2)
        target.setframerate(16_000)
        target.writeframes(bytes(3200))


def _described(walls: Collection[str]) -> Finding:
    stand = ", ".join(walls)
    if "seccomp" in walls:
        return ok(_TOPIC, f"opens strangers' files without access to files, network and programs ({stand})")
    left = left_open(walls)
    return note(_TOPIC, f"one that a file has taken over could still {left}; it is held by: {stand or 'nothing'}", REMEDY)


def left_open(walls: Collection[str]) -> str:
    if "landlock" in walls:
        return (
            "start processes of its own" if "namespaces" in walls else "start processes of its own and send over the network"
        )
    network = [] if "namespaces" in walls else ["reach the network"]
    words = ["read files", *network, "start programs"]
    return f"{', '.join(words[:-1])} and {words[-1]}"
