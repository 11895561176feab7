"""What is to be read: files, folders with what lies below them, addresses, and folders of buckets.

What was named is never left out: if it cannot be read, that is told. Of what lies in a folder only what may be a document is
taken, and what is left out is said.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from towpath.outbound.sources import is_address, shown

_BUCKETS = ("s3://", "gs://", "az://")
_HEAD = 1024
_MARKS = (
    b"\xff\xfe",
    b"\xfe\xff",
    b"%PDF",
    b"PK\x03\x04",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"II*\x00",
    b"MM\x00*",
    b"GIF8",
    b"RIFF",
    b"BM",
)
_ARCHIVES = (".zip", ".jar", ".whl", ".apk", ".wav", ".avi")
"""Begin like documents and are none."""

HIDDEN, EMPTY, CLOSED, NO_DOCUMENT, ELSEWHERE = (
    "is hidden", "is empty", "cannot be read by you", "is no document", "leads elsewhere",
)  # fmt: skip


@dataclass(slots=True)
class Gathered:
    """`broken` and `skipped` are names with the reason; the first were asked for by name."""

    files: list[Path] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    broken: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)


def gather(inputs: Sequence[str]) -> Gathered:
    """Each once, in the order in which it was named."""
    found = Gathered()
    for one in dict.fromkeys(inputs):
        if is_address(one):
            (found.folders if _is_bucket_folder(one) else found.addresses).append(one)
        else:
            _here(Path(one), found)
    found.files = list(dict.fromkeys(found.files))
    return found


def _is_bucket_folder(address: str) -> bool:
    return address.lower().startswith(_BUCKETS) and shown(address).endswith("/")


def _here(path: Path, found: Gathered) -> None:
    if path.is_dir():
        found.files += _below(path, found)
    elif not path.exists():
        found.broken.append((str(path), "there is no such file or folder"))
    elif not path.is_file():
        found.broken.append((str(path), "it is neither a file nor a folder"))
    elif not os.access(path, os.R_OK):
        found.broken.append((str(path), "it cannot be read by you"))
    elif path.stat().st_size == 0:
        found.broken.append((str(path), "it is empty"))
    else:
        found.files.append(path)


def _below(folder: Path, found: Gathered) -> Iterator[Path]:
    """In the order of names, so that a run reads like the folder."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        found.skipped.append((str(folder), CLOSED))
        return
    for entry in entries:
        path = Path(entry.path)
        why = _why_not(entry)
        if why is not None:
            found.skipped.append((str(path), why))
        elif entry.is_dir():
            yield from _below(path, found)
        else:
            yield path


def _why_not(entry: os.DirEntry[str]) -> str | None:
    if entry.name.startswith("."):
        return HIDDEN
    if entry.is_symlink() and not entry.is_file():
        return ELSEWHERE  # a folder may lead back to itself
    if entry.is_dir(follow_symlinks=False):
        return None
    if not entry.is_file():
        return NO_DOCUMENT
    if entry.stat().st_size == 0:
        return EMPTY
    try:
        with Path(entry.path).open("rb") as source:
            return None if _may_be_a_document(entry.name, source.read(_HEAD)) else NO_DOCUMENT
    except OSError:
        return CLOSED


def _may_be_a_document(name: str, head: bytes) -> bool:
    """Roughly: what is taken here and is none after all is refused when it is read, and told."""
    if name.lower().endswith(_ARCHIVES):
        return False
    return head.startswith(_MARKS) or b"\x00" not in head
