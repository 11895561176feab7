"""Walking a directory tree without ever leaving it.

Each folder is opened relative to its parent's descriptor and symbolic links are refused at every step, so nobody who
can write into the tree can point us outside it, not even by exchanging a folder for a link between check and use.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from towpath.blobs.errors import BlobError, BlobStoreUnavailable

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def make_root(root: Path) -> Path:
    """Create the root, private to its owner, and make its own directory entry durable."""
    missing = [folder for folder in (root, *root.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
        _sync_path(folder.parent)
    return root.resolve(strict=True)


@contextmanager
def opened(root: Path, segments: Sequence[str], *, create: bool = False) -> Iterator[list[int]]:
    """Descriptors of the root and of each folder on the way; the last one is the folder asked for.

    Raises FileNotFoundError or NotADirectoryError for the folders, BlobStoreUnavailable for the root itself: a disk
    that is not mounted must not look like a blob that does not exist.
    """
    with ExitStack() as closing:
        try:
            chain = [os.open(root, _OPEN_FOLDER)]
        except OSError as error:
            raise BlobStoreUnavailable(
                f"the blob directory {root} cannot be opened ({error.strerror}); is its disk mounted and readable?"
            ) from error
        closing.callback(os.close, chain[-1])
        for name in segments:
            chain.append(_enter(chain[-1], name, create))
            closing.callback(os.close, chain[-1])
        yield chain


def _enter(parent: int, name: str, create: bool) -> int:
    if create:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
    try:
        return os.open(name, _OPEN_FOLDER, dir_fd=parent)
    except OSError:
        refuse_link(parent, name)
        raise


def refuse_link(parent: int, name: str) -> None:
    with suppress(FileNotFoundError):
        if stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise BlobError(
                f"{name!r} in the blob directory is a symbolic link and is not followed; "
                "remove it, and use a mount if the data must live on another disk"
            )


def sync_chain(chain: Sequence[int]) -> None:
    """Make a new entry in the last folder durable, and all folders above it.

    The ones above too, although they may have existed: another writer may have made them and not synced them yet.
    """
    for folder in reversed(chain):
        os.fsync(folder)


def prune_empty(root: Path, segments: Sequence[str]) -> None:
    """Remove the folder and its parents as far as they are empty; somebody else's put makes them again."""
    for depth in range(len(segments), 0, -1):
        try:
            with opened(root, segments[: depth - 1]) as chain:
                os.rmdir(segments[depth - 1], dir_fd=chain[-1])
        except FileNotFoundError:
            continue
        except OSError:
            return


def _sync_path(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
