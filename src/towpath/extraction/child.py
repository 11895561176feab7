"""The process in which strangers' documents are opened, from outside: what it is given, and how it ends.

Documents go over one pipe and their text comes back over another; it knows no path and can open none. It may read one
document after the other, and whoever has it sees to it that they belong to one owner.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from towpath import Transient
from towpath.extraction.answers import Answer, checked, received
from towpath.extraction.contract import Limits
from towpath.extraction.errors import died, out_of_time
from towpath.walls.lock import WALLS

Task = Literal["text", "pictures"]
_PROGRAM = Path(__file__).parent / "inside" / "program.py"
_PIECE = 1024 * 1024
_SECONDS_TO_START = 120.0
_LAST_WORDS = 4096
# One thread of each library is enough for one document; some libraries would make one for each core.
_QUIET = {
    "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1",
    "TOKIO_WORKER_THREADS": "1",
    # Versions that are not in the lock would tell their maker that they run.
    "ORT_DISABLE_TELEMETRY": "1",
}  # fmt: skip


class Child:
    """`owner` is whose documents it reads; `last` is known after each of them."""

    def __init__(self, process: asyncio.subprocess.Process, lifeline: int, limits: Limits) -> None:
        self._process, self._lifeline, self._limits = process, lifeline, limits
        self._said = b""
        self._listening = asyncio.create_task(self._listen())
        self.owner: str | None = None
        self.last = False

    @classmethod
    async def started(cls, task: Task, limits: Limits, walls: Sequence[str] = WALLS) -> Child:
        """When it has loaded everything and has locked itself in. Raises `ConfigurationError` if nothing is installed."""
        theirs, ours = os.pipe()
        given = {
            "task": task, "walls": list(walls), "lifeline": theirs, "memory_mb": limits.memory_mb,
            "cpu_seconds": 2 * int(limits.seconds + 1),
        }  # fmt: skip
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", str(_PROGRAM), json.dumps(given), pass_fds=(theirs,),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                # Where modules are found and nothing else: settings and their secrets stay here.
                env={"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)} | _QUIET, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            os.close(ours)
            raise Transient(f"no process can be started to read documents ({error.strerror})",
                            remedy="see whether the machine has memory and processes left") from None  # fmt: skip
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        child = cls(process, ours, limits)
        try:
            async with asyncio.timeout(_SECONDS_TO_START):
                checked((await child._answer()).head, limits)
        except TimeoutError:
            await child.end()
            raise Transient("the process that reads documents did not start in time", remedy="see what else the machine does"
                            ) from None  # fmt: skip
        except BaseException:
            await child.end()
            raise
        return child

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ask(self, asked: dict[str, Any], source: Path | bytes) -> Answer:
        """Raises `DocumentUnreadable` or `Transient`; then it is of no use any more."""
        self.last = True
        try:
            async with asyncio.timeout(self._limits.seconds):
                with suppress(BrokenPipeError, ConnectionResetError):  # what it died of is told by `_answer`
                    await self._send(asked, source)
                answer = await self._answer()
        except TimeoutError:
            raise out_of_time(self._limits) from None
        self.last = answer.last
        return answer

    async def _send(self, asked: dict[str, Any], source: Path | bytes) -> None:
        assert self._process.stdin is not None
        if isinstance(source, bytes):
            self._head(asked, len(source))
            self._process.stdin.write(source)
            await self._process.stdin.drain()
            return
        with await asyncio.to_thread(source.open, "rb") as file:
            left = os.fstat(file.fileno()).st_size
            self._head(asked, left)
            while left:
                piece = await asyncio.to_thread(file.read, min(_PIECE, left))
                if not piece:  # it was cut meanwhile
                    raise Transient(f"the file {source.name[:100]!r} was changed while it was read", remedy="try again")
                left -= len(piece)
                self._process.stdin.write(piece)
                await self._process.stdin.drain()

    def _head(self, asked: dict[str, Any], size: int) -> None:
        assert self._process.stdin is not None
        head = json.dumps(asked | {"size": size}).encode()
        self._process.stdin.write(struct.pack(">I", len(head)) + head)

    async def _answer(self) -> Answer:
        assert self._process.stdout is not None
        try:
            return await received(self._process.stdout, self._limits)
        except asyncio.IncompleteReadError:
            code = await self._process.wait()
            await self._listening
            raise died(code, self._said.decode("utf-8", "replace"), self._limits) from None

    async def _listen(self) -> None:
        """Keeps its last words, and its pipe empty."""
        assert self._process.stderr is not None
        while piece := await self._process.stderr.read(_LAST_WORDS):
            self._said = (self._said + piece)[-_LAST_WORDS:]

    async def end(self) -> None:
        """The whole group: whatever it may have started ends with it."""
        await asyncio.shield(self._ended())

    async def _ended(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._process.stdout is not None:  # what nobody has read keeps the pipe open, and `wait` waits for the pipe
            while await self._process.stdout.read(_PIECE):
                pass
        await self._process.wait()
        await self._listening
