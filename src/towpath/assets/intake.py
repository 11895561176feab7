"""A file's bytes on their way: counted, sniffed and hashed as they pass, never held in memory."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Collection

from towpath.assets.errors import AssetRefused, too_large
from towpath.assets.sniffing import HEAD, Kind, described, sniff

Kinds = Collection[str] | None


class Intake:
    """What passes through `pieces` is measured; a file that is refused breaks the stream off. `most` of 0 is no limit."""

    def __init__(self, name: str, kinds: Kinds, most: int = 0) -> None:
        self._name, self._kinds, self._most = name, kinds, most
        self._hash = hashlib.sha256()
        self.bytes, self.kind = 0, Kind("", "")

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    async def pieces(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        head = b""
        async for piece in stream:
            self.bytes += len(piece)
            self._check_size()
            self._hash.update(piece)
            if self.kind.name:
                yield piece
                continue
            head += piece
            if len(head) >= HEAD:
                self.kind = checked_kind(self._name, head[:HEAD], self._kinds)
                yield head
        if not self.kind.name:
            self.kind = checked_kind(self._name, head, self._kinds)
            yield head

    def _check_size(self) -> None:
        if self._most and self.bytes > self._most:
            raise too_large(None, self._most)


def checked_kind(name: str, head: bytes, kinds: Kinds) -> Kind:
    """What the file is by its first bytes. Raises `AssetRefused` if that is none of the kinds."""
    if not head:
        raise AssetRefused(f"{name!r} is empty", remedy="check the file where it comes from, and send it again")
    found = sniff(head)
    if kinds is not None and found.name not in kinds:
        raise AssetRefused(
            f"{name!r} is {described(head)}, not {_listed(kinds)}",
            remedy="choose the recording itself, or convert it to one of these formats",
        )
    return found


def _listed(kinds: Collection[str]) -> str:
    names = sorted(kinds)
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
