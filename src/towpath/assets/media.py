"""Looking into audio and video, and decoding it, in a process that can do no harm: limited memory, time and output.

A decoder is a large program that reads what strangers have made. Here it can at worst fail this one file.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from towpath.assets.errors import MediaUnreadable
from towpath.core.errors import ConfigurationError, Transient

_PROGRAM = Path(__file__).with_name("decoder.py")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost. `longest_seconds` is of decoded audio, whatever the file says about its length."""

    memory_mb: int = 1024
    cpu_seconds: int = 3600
    wall_seconds: float = 3600.0
    longest_seconds: float = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class MediaInfo:
    """`probe` tells the length the file declares, None if it declares none; `decode` tells the length it has.

    `damaged_packets` could not be decoded and were left out, as a player would.
    """

    duration_seconds: float | None
    codec: str
    container: str
    channels: int
    sample_rate: int
    has_video: bool
    damaged_packets: int = 0


PROBING = Limits(memory_mb=1024, cpu_seconds=60, wall_seconds=120.0)


async def probe(path: Path, *, limits: Limits = PROBING) -> MediaInfo:
    """What a file says about itself; quick, and not to be believed. Raises `MediaUnreadable`."""
    return await _run(path, None, limits)


async def decode(path: Path, target: Path, *, limits: Limits | None = None) -> MediaInfo:
    """Writes the first audio track to `target` as 16 kHz mono in 16 bits: raw, or with a header if it ends in `.wav`.

    The memory it takes does not depend on the length. Raises `MediaUnreadable`; then `target` is not there.
    """
    done = False
    try:
        info = await _run(path, target, limits or Limits())
        done = True
    finally:
        if not done:
            await asyncio.to_thread(target.unlink, missing_ok=True)
    return info


async def _run(path: Path, target: Path | None, limits: Limits) -> MediaInfo:
    asked = {"path": str(path), "target": str(target) if target else None, "limits": asdict(limits)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", str(_PROGRAM), json.dumps(asked),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        # Where modules are found and nothing else: settings and their secrets stay here.
        env={"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        async with asyncio.timeout(limits.wall_seconds):
            output = await process.stdout.read()
            await process.wait()
    except TimeoutError:
        raise MediaUnreadable(
            f"decoding took longer than {limits.wall_seconds:g} s and was stopped", remedy="cut the file into parts"
        ) from None
    finally:
        await asyncio.shield(_end(process))
    return _understood(output, process.returncode, limits)


async def _end(process: asyncio.subprocess.Process) -> None:
    """The whole group: whatever it may have started ends with it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.stdin is not None:
        process.stdin.close()
    await process.wait()


def _understood(output: bytes, code: int | None, limits: Limits) -> MediaInfo:
    try:
        answer: dict[str, Any] = json.loads(output)
    except ValueError:
        raise _died(code, limits) from None
    if "info" in answer:
        return MediaInfo(**answer["info"])
    if "refused" in answer:
        raise MediaUnreadable(answer["refused"], remedy=answer["remedy"])
    if "missing" in answer:
        raise ConfigurationError(f"audio cannot be decoded here ({answer['missing']}); install towpath[local]")
    if "memory" in answer:
        raise MediaUnreadable(
            f"decoding needed more than {limits.memory_mb} MB of memory and was stopped", remedy="convert it to mp3 or wav"
        )
    raise MediaUnreadable(f"the file cannot be decoded: {answer['failed']}", remedy="convert it to mp3, m4a or wav")


def _died(code: int | None, limits: Limits) -> Exception:
    if code == -signal.SIGXCPU:
        return MediaUnreadable(
            f"decoding took more than {limits.cpu_seconds} s of computing and was stopped", remedy="cut the file into parts"
        )
    if code == -signal.SIGKILL:
        return Transient("the decoder was killed from outside", remedy="see whether the machine ran out of memory")
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    return MediaUnreadable(f"the decoder broke down over this file ({how})", remedy="convert it to mp3, m4a or wav")
