"""What every blob store promises, on a local directory as in a bucket."""

from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class BlobInfo:
    """`etag` is opaque and changes whenever the content is replaced; `created` (UTC) is when that content came."""

    key: str
    size: int
    etag: str
    created: datetime


class BlobStore(Protocol):
    """Whole values under keys.

    A blob is visible as a whole or not at all, and when `put` or `move` has returned it survives a power cut, so a
    database row that refers to it may be committed next. Every method raises `InvalidBlobKey` for a key outside the
    grammar (`keys.py`), and `BlobStoreUnavailable` when the disk or service fails.

    A key must not be a folder of another key (`a` beside `a/b`): buckets would hold both, directories cannot, and a
    store that notices refuses the second one with `InvalidBlobKey`.

    A prefix names a folder, by whole segments: `jobs/1` covers `jobs/1/out` but neither `jobs/10/out` nor `jobs/1`.
    """

    async def put(self, key: str, data: bytes | AsyncIterable[bytes]) -> BlobInfo:
        """Store `data`, replacing what was there.

        A stream is written as it comes and never held as a whole. If it raises, or the caller is cancelled, the old
        value stays (a cancel that arrives during the last instant may find the new one in place, whole).
        """
        ...

    async def get(self, key: str) -> bytes:
        """The whole value in memory; `open` is for what may be large. Raises `BlobNotFound`."""
        ...

    def open(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """Stream the bytes from `start` up to, not including, `end`; a range past the end is cut off there.

        One reader sees one value, even if the blob is replaced or deleted meanwhile. A bucket has only what is there now:
        the reader of a value of more than a few megabytes then gets an error, and never a mixture. Errors,
        `BlobNotFound` among them, come with the first chunk. A reader that stops early closes the stream
        (`contextlib.aclosing`).
        """
        ...

    async def head(self, key: str) -> BlobInfo | None: ...

    async def delete(self, key: str) -> None:
        """Idempotent: a missing blob is a deleted one."""
        ...

    async def delete_prefix(self, prefix: str) -> int:
        """Delete every blob below the folder and say how many; the empty prefix is refused."""
        ...

    async def delete_prefixes(self, prefixes: Sequence[str]) -> int:
        """The same for many folders at once; most of them are empty."""
        ...

    async def sweep(self) -> int:
        """Remove what writers that were killed left half written, if it is an hour old, and say how many; nobody sees those
        in any case. Safe while others write."""
        ...

    def list(self, prefix: str = "") -> AsyncGenerator[BlobInfo, None]:
        """Every blob below the folder, in no promised order; what changes during the walk may or may not be seen."""
        ...

    async def move(self, source: str, target: str) -> None:
        """Give the blob another key, replacing what is there. Raises `BlobNotFound` if there is no source.

        One atomic step on a local directory. In a bucket it is a copy and a delete: the target appears whole, and a
        crash in between leaves the source as well, so that a repeated move ends right. Of several at once, more than one
        may succeed there.
        """
        ...

    def uri(self, key: str) -> str | None:
        """The address by which others with access to the same bucket know the blob, such as `s3://bucket/prefix/key`;
        None where there is none, as in a local directory."""
        ...

    async def sign(self, key: str, *, method: Literal["GET", "PUT"] = "GET", seconds: float) -> str | None:
        """A URL by which anybody may use that one key with that one method until then; None where the store has no such
        thing, as a local directory. A blob need not be there yet."""
        ...

    async def aclose(self) -> None:
        """Release threads and connections; calling it again does nothing."""
        ...
