"""The blocking half of the local store: reading, listing and deleting blobs in a directory tree."""

import os
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from towpath.blobs.contract import BlobInfo
from towpath.blobs.errors import BlobNotFound
from towpath.blobs.folders import opened, prune_empty, refuse_link
from towpath.blobs.keys import is_segment
from towpath.blobs.uploads import describe, place

Segments = tuple[str, ...]


def open_blob(root: Path, key: str, segments: Segments) -> int:
    """A descriptor of the blob's file; it keeps reading this value even if the key is replaced or deleted."""
    try:
        with opened(root, segments[:-1]) as chain:
            try:
                descriptor = os.open(segments[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=chain[-1])
            except OSError:
                refuse_link(chain[-1], segments[-1])
                raise
    except (FileNotFoundError, NotADirectoryError):
        raise BlobNotFound(key) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BlobNotFound(key)
    return descriptor


def read(root: Path, key: str, segments: Segments) -> bytes:
    with os.fdopen(open_blob(root, key, segments), "rb", buffering=0) as file:
        return file.readall()


def head(root: Path, key: str, segments: Segments) -> BlobInfo | None:
    try:
        descriptor = open_blob(root, key, segments)
    except BlobNotFound:
        return None
    try:
        return describe(key, os.fstat(descriptor))
    finally:
        os.close(descriptor)


def move(root: Path, source: str, source_segments: Segments, target_segments: Segments) -> None:
    if head(root, source, source_segments) is None:
        raise BlobNotFound(source)
    if source_segments == target_segments:
        return
    try:
        place(root, source_segments, target_segments)
    except FileNotFoundError:
        raise BlobNotFound(source) from None
    prune_empty(root, source_segments[:-1])


def delete(root: Path, segments: Segments) -> None:
    with suppress(FileNotFoundError, NotADirectoryError), opened(root, segments[:-1]) as chain:
        if _unlink(chain[-1], segments[-1]):
            os.fsync(chain[-1])
    prune_empty(root, segments[:-1])


def delete_below(root: Path, segments: Segments) -> int:
    deleted = 0
    emptied = []
    for folder in _folders_below(root, segments):
        emptied.append(folder)
        with suppress(FileNotFoundError, NotADirectoryError), opened(root, folder) as chain:
            removed = sum(_unlink(chain[-1], name) for name in os.listdir(chain[-1]) if is_segment(name))
            if removed:
                os.fsync(chain[-1])
            deleted += removed
    for folder in reversed(emptied):
        prune_empty(root, folder)
    return deleted


def delete_all_below(root: Path, folders: Sequence[Segments]) -> int:
    """Most of them do not exist: those that share a parent are looked for in it, which costs next to nothing."""
    by_parent: dict[Segments, list[str]] = {}
    for segments in folders:
        by_parent.setdefault(segments[:-1], []).append(segments[-1])
    found = []
    for parent, names in by_parent.items():
        with suppress(FileNotFoundError, NotADirectoryError), opened(root, parent) as chain:
            found += [(*parent, name) for name in names if _is_there(chain[-1], name)]
    return sum(delete_below(root, segments) for segments in found)


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def list_below(root: Path, segments: Segments) -> Generator[BlobInfo, None, None]:
    for folder in _folders_below(root, segments):
        with (
            suppress(FileNotFoundError, NotADirectoryError),
            opened(root, folder) as chain,
            os.scandir(chain[-1]) as found,
        ):
            for entry in found:
                if is_segment(entry.name) and entry.is_file(follow_symlinks=False):
                    with suppress(FileNotFoundError):
                        status = entry.stat(follow_symlinks=False)
                        yield describe("/".join((*folder, entry.name)), status)


def _folders_below(root: Path, segments: Segments) -> Iterator[Segments]:
    """The folder itself and all below it, parents first."""
    pending = [segments]
    while pending:
        folder = pending.pop()
        with suppress(FileNotFoundError, NotADirectoryError):
            with opened(root, folder) as chain, os.scandir(chain[-1]) as entries:
                names = [e.name for e in entries if is_segment(e.name) and e.is_dir(follow_symlinks=False)]
            pending.extend((*folder, name) for name in names)
            yield folder


def _unlink(folder: int, name: str) -> bool:
    """Remove a file, or a link but never what it points to; a folder is left alone."""
    try:
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return False
        os.unlink(name, dir_fd=folder)
    except (FileNotFoundError, IsADirectoryError):
        return False
    return True
