"""Blobs in a local directory: the store that needs nothing installed."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Literal, ParamSpec, TypeVar

from towpath.blobs import tree
from towpath.blobs.contract import BlobInfo
from towpath.blobs.errors import BlobStoreClosed, BlobStoreUnavailable
from towpath.blobs.folders import make_root
from towpath.blobs.keys import check_key, check_prefix
from towpath.blobs.uploads import Upload, sweep
from towpath.core.blocking import beside

CHUNK = 1024 * 1024
LEFTOVER_SECONDS = 3600.0

_THREADS = 8
_LIST_PAGE = 500

P = ParamSpec("P")
T = TypeVar("T")


class LocalBlobs:
    """A `BlobStore` in a directory of one host; files are 0600, folders 0700, symbolic links never followed.

    Keys map to paths as they are, so a filesystem that ignores case cannot tell `A` from `a`. Opening creates the
    directory and sweeps it, so do it at start, not inside a request.
    """

    def __init__(self, root: Path) -> None:
        try:
            self.root = make_root(root)
            sweep(self.root, LEFTOVER_SECONDS)
        except OSError as error:
            raise BlobStoreUnavailable(
                f"cannot keep blobs in {root} ({error.strerror}); name a directory that this user may write to"
            ) from error
        # A pool of its own: sync operations may occupy every thread of the loop's default one for hours.
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="towpath-blobs")
        self._closed = False

    async def put(self, key: str, data: bytes | AsyncIterable[bytes]) -> BlobInfo:
        upload = Upload(self.root, key, check_key(key))
        try:
            await self._run(upload.begin)
            async for chunk in _chunks(data):
                await self._run(upload.write, chunk)
            return await self._run(upload.commit)
        finally:
            # On the loop's own pool, because ours may have been closed meanwhile; what fails here is swept later.
            with suppress(OSError, BlobStoreUnavailable):
                await _finish(None, upload.abandon)

    async def get(self, key: str) -> bytes:
        return await self._run(tree.read, self.root, key, check_key(key))

    async def open(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        segments = check_key(key)
        if start < 0 or (end is not None and end < start):
            raise ValueError(f"a range needs 0 <= start <= end, got start={start} and end={end}")
        held: list[int] = []
        try:
            await self._run(lambda: held.append(tree.open_blob(self.root, key, segments)))
            while end is None or start < end:
                wanted = CHUNK if end is None else min(CHUNK, end - start)
                chunk = await self._run(os.pread, held[0], wanted, start)
                if not chunk:
                    return
                start += len(chunk)
                yield chunk
        finally:
            for descriptor in held:
                os.close(descriptor)

    async def head(self, key: str) -> BlobInfo | None:
        return await self._run(tree.head, self.root, key, check_key(key))

    async def delete(self, key: str) -> None:
        await self._run(tree.delete, self.root, check_key(key))

    async def delete_prefix(self, prefix: str) -> int:
        return await self._run(tree.delete_below, self.root, check_prefix(prefix, allow_empty=False))

    async def delete_prefixes(self, prefixes: Sequence[str]) -> int:
        folders = [check_prefix(prefix, allow_empty=False) for prefix in prefixes]
        return await self._run(tree.delete_all_below, self.root, folders)

    async def sweep(self) -> int:
        return await self._run(sweep, self.root, LEFTOVER_SECONDS)

    async def list(self, prefix: str = "") -> AsyncGenerator[BlobInfo, None]:
        found = tree.list_below(self.root, check_prefix(prefix, allow_empty=True))
        try:
            while page := await self._run(lambda: tuple(islice(found, _LIST_PAGE))):
                for info in page:
                    yield info
        finally:
            found.close()

    async def move(self, source: str, target: str) -> None:
        await self._run(tree.move, self.root, source, check_key(source), check_key(target))

    def uri(self, key: str) -> str | None:
        check_key(key)
        return None

    async def sign(self, key: str, *, method: Literal["GET", "PUT"] = "GET", seconds: float) -> str | None:
        check_key(key)
        return None

    async def aclose(self) -> None:
        self._closed = True
        await beside(self._threads.shutdown)

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._closed:
            raise BlobStoreClosed(f"the blob store in {self.root} is closed; open it again before using it")
        try:
            return await _finish(self._threads, lambda: function(*args, **kwargs))
        except OSError as error:
            raise BlobStoreUnavailable(
                f"the blob directory {self.root} did not do what was asked ({error.strerror or error}); "
                "check its free space and permissions, then try again"
            ) from error


async def _finish(executor: Executor | None, function: Callable[[], T]) -> T:
    """Run in a thread, and when cancelled wait for the thread before passing that on.

    Otherwise clean-up would close a descriptor that the thread still writes to, and that may by then be another file.
    """
    future = asyncio.get_running_loop().run_in_executor(executor, function)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        while not future.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({future})
        raise


async def _chunks(data: bytes | AsyncIterable[bytes]) -> AsyncGenerator[bytearray | memoryview, None]:
    """About one chunk per trip to a thread, however small or large the pieces are that come in."""
    if isinstance(data, bytes | bytearray | memoryview):
        whole = memoryview(data)
        for offset in range(0, len(whole), CHUNK):
            yield whole[offset : offset + CHUNK]
        return
    buffer = bytearray()
    async for piece in data:
        buffer += piece
        if len(buffer) >= CHUNK:
            yield buffer
            buffer = bytearray()
    yield buffer
