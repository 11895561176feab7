"""A blob on its way to disk: written beside the tree, made durable, then renamed into place in one step."""

import fcntl
import os
import time
import uuid
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from towpath.blobs.contract import BlobInfo
from towpath.blobs.errors import BlobStoreUnavailable, InvalidBlobKey
from towpath.blobs.folders import opened, sync_chain

TEMPORARY = ".tmp"
"""Below the root, hence on the same filesystem; the leading dot keeps it outside the grammar of keys."""

_PLACING_ATTEMPTS = 100
_BLOCK, _WORTHWHILE = 64 * 1024, 4096
_ZEROS = bytes(_BLOCK)


def describe(key: str, status: os.stat_result) -> BlobInfo:
    etag = f"{status.st_ino:x}-{status.st_mtime_ns:x}-{status.st_size:x}"
    return BlobInfo(key, status.st_size, etag, datetime.fromtimestamp(status.st_mtime, UTC))


class Upload:
    """Owns its temporary file from `begin` until `commit` or `abandon`; the lock on it tells sweepers it is alive."""

    def __init__(self, root: Path, key: str, segments: tuple[str, ...]) -> None:
        self._root = root
        self._key = key
        self._segments = segments
        self._name = uuid.uuid4().hex
        self._file: int | None = None

    def begin(self) -> None:
        with opened(self._root, [TEMPORARY], create=True) as chain:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            self._file = os.open(self._name, flags, 0o600, dir_fd=chain[-1])
        # A filesystem without locks does not sweep either: the sweeper needs this same lock.
        with suppress(OSError):
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def write(self, chunk: bytearray | memoryview) -> None:
        """Zeros are skipped, which makes holes in the file: hours of decoded silence take no room on the disk."""
        rest = memoryview(chunk)
        while rest:
            block = rest[:_BLOCK]
            if len(block) >= _WORTHWHILE and bytes(block) == _ZEROS[: len(block)]:
                os.lseek(self._descriptor, len(block), os.SEEK_CUR)
                rest = rest[len(block) :]
            else:
                rest = rest[os.write(self._descriptor, block) :]

    def commit(self) -> BlobInfo:
        os.ftruncate(self._descriptor, os.lseek(self._descriptor, 0, os.SEEK_CUR))  # it may end in a hole
        # The kernel's own time stamps tick in milliseconds, too coarse to tell two quick values of a key apart.
        now = time.time_ns()
        os.utime(self._descriptor, ns=(now, now))
        os.fsync(self._descriptor)
        info = describe(self._key, os.fstat(self._descriptor))
        place(self._root, (TEMPORARY, self._name), self._segments)
        self._close()
        return info

    def abandon(self) -> None:
        """Leave nothing behind; after a commit there is nothing to leave."""
        if self._file is None:
            return
        with suppress(FileNotFoundError), opened(self._root, [TEMPORARY]) as chain:
            os.unlink(self._name, dir_fd=chain[-1])
        self._close()

    @property
    def _descriptor(self) -> int:
        assert self._file is not None, "begin comes first"
        return self._file

    def _close(self) -> None:
        descriptor, self._file = self._file, None
        if descriptor is not None:
            os.close(descriptor)


def place(root: Path, source: tuple[str, ...], target: tuple[str, ...]) -> None:
    """Rename durably. FileNotFoundError means that the source is gone."""
    with opened(root, source[:-1]) as origin:
        for _ in range(_PLACING_ATTEMPTS):
            os.stat(source[-1], dir_fd=origin[-1], follow_symlinks=False)
            try:
                with opened(root, target[:-1], create=True) as chain:
                    _rename(origin[-1], source[-1], chain[-1], target)
                    sync_chain(chain)
                os.fsync(origin[-1])
                return
            except FileNotFoundError:
                # The source was there a moment ago: a delete has pruned the target's folder, which was empty.
                continue
            except NotADirectoryError as error:
                raise InvalidBlobKey(
                    f"blob key {'/'.join(target)!r} lies below a key that is itself a blob; "
                    "give the one or the other a different key"
                ) from error
        raise BlobStoreUnavailable(
            f"the folder of {'/'.join(target)!r} was removed {_PLACING_ATTEMPTS} times while the blob was put into it; "
            "stop whatever deletes there, then try again"
        )


def _rename(origin: int, name: str, folder: int, target: tuple[str, ...]) -> None:
    try:
        os.rename(name, target[-1], src_dir_fd=origin, dst_dir_fd=folder)
    except IsADirectoryError:
        try:
            os.rmdir(target[-1], dir_fd=folder)
        except OSError as error:
            raise InvalidBlobKey(
                f"blob key {'/'.join(target)!r} is already a folder of other blobs; store it under a key inside it"
            ) from error
        os.rename(name, target[-1], src_dir_fd=origin, dst_dir_fd=folder)


def sweep(root: Path, older_than: float) -> int:
    """Remove what killed processes left behind, by age in seconds; a file whose writer lives is locked and stays."""
    removed = 0
    with opened(root, [TEMPORARY], create=True) as chain:
        for name in os.listdir(chain[-1]):
            with suppress(OSError):
                if time.time() - os.stat(name, dir_fd=chain[-1], follow_symlinks=False).st_mtime > older_than:
                    removed += _remove_unlocked(chain[-1], name)
    return removed


def _remove_unlocked(folder: int, name: str) -> int:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(name, dir_fd=folder)
    finally:
        os.close(descriptor)
    return 1
