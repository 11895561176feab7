"""The process in which a stranger's file is opened, from outside: what it is given, and how little of it is believed.

It gets the file as an open descriptor and knows no path. Audio comes back over one pipe and is passed on as it comes, so
nothing decoded lies on the disk of whoever only passes it on; the answer comes over another, and is read like any
stranger's.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from towpath.assets.answers import MediaInfo, understood
from towpath.assets.errors import MediaUnreadable
from towpath.assets.limits import Limits
from towpath.walls.lock import WALLS

BYTES_PER_SECOND = 32_000
_PROGRAM = Path(__file__).with_name("decoder.py")
_PIECE = 256 * 1024
_LONGEST_ANSWER = 16 * 1024
_SECONDS_TO_DRAIN = 5.0


class Decoding:
    """One file being decoded. `info` and the `walls` that stood around it are known when all pieces have come."""

    def __init__(self, path: Path, limits: Limits, *, audio: bool = True, walls: Sequence[str] = WALLS) -> None:
        self._path, self._limits, self._audio, self._wanted = path, limits, audio, list(walls)
        self._bytes = 0
        self.info: MediaInfo | None = None
        self.walls: tuple[str, ...] = ()

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """16 kHz mono in 16 bits. Raises `MediaUnreadable`. Whoever stops early closes it (`contextlib.aclosing`)."""
        async with self._process() as running:
            deadline = asyncio.get_running_loop().time() + self._limits.wall_seconds
            try:
                while piece := await running.read(deadline):
                    self._count(len(piece))
                    yield piece
            except TimeoutError:
                raise MediaUnreadable(
                    f"decoding took longer than {self._limits.wall_seconds:g} s and was stopped",
                    remedy="cut the file into parts",
                ) from None
            code = await running.process.wait()
            told = understood(running.answer(), code, self._limits)
            self.info, self.walls = told.info, told.walls

    def _count(self, size: int) -> None:
        """The decoder counts too, and says it better; this is for one that does not keep to it."""
        self._bytes += size
        if self._bytes > (self._limits.longest_seconds + 1) * BYTES_PER_SECOND or not self._audio:
            raise MediaUnreadable("the decoder gave more than it was asked for and was stopped", remedy="check the file")

    @asynccontextmanager
    async def _process(self) -> AsyncIterator[_Running]:
        try:
            source = await asyncio.to_thread(os.open, self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise MediaUnreadable(
                f"the file cannot be read ({error.strerror})", remedy="see whether it is still there, and send it again"
            ) from None
        answer, theirs = os.pipe()
        os.set_blocking(answer, False)
        running: _Running | None = None
        try:
            running = _Running(await self._start(source, theirs), answer)
            os.close(source)
            os.close(theirs)
            yield running
        finally:
            if running is None:
                os.close(source)
                os.close(theirs)
            else:
                await asyncio.shield(running.end())
            os.close(answer)

    async def _start(self, source: int, answer: int) -> asyncio.subprocess.Process:
        asked = {
            "source": source, "answer": answer, "audio": self._audio, "walls": self._wanted, "limits": asdict(self._limits),
        }  # fmt: skip
        return await asyncio.create_subprocess_exec(
            sys.executable, "-P", str(_PROGRAM), json.dumps(asked), pass_fds=(source, answer),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            # Where modules are found and nothing else: settings and their secrets stay here.
            env={"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}, start_new_session=True,
        )  # fmt: skip


@dataclass(slots=True)
class _Running:
    process: asyncio.subprocess.Process
    _answer: int

    async def read(self, deadline: float) -> bytes:
        assert self.process.stdout is not None
        async with asyncio.timeout_at(deadline):
            return await self.process.stdout.read(_PIECE)

    def answer(self) -> bytes:
        """It fits the pipe, so all of it is there when the process has ended."""
        with suppress(BlockingIOError):
            return os.read(self._answer, _LONGEST_ANSWER)
        return b""

    async def end(self) -> None:
        """The whole group: whatever it may have started ends with it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if self.process.stdin is not None:
            self.process.stdin.close()
        with suppress(TimeoutError):  # what nobody has read keeps the pipe open, and `wait` waits for the pipe
            while await self.read(asyncio.get_running_loop().time() + _SECONDS_TO_DRAIN):
                pass
        await self.process.wait()
