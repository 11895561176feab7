"""Something in an object store, read with this installation's own credentials: the variables that the SDKs read.

Whoever may name an address could thereby read everything that this installation can. So nothing is read but what
`TOWPATH_INPUT_BUCKETS` allows.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from towpath.core.encoding import plain
from towpath.core.errors import Fatal, SchemaInvalid, Transient
from towpath.outbound.client import UnsafeUrl
from towpath.outbound.reading import Arriving, Broken, Changed

if TYPE_CHECKING:
    from obstore.store import ObjectStore

SCHEMES = frozenset({"s3", "gs", "az"})
_PIECE = 1024 * 1024


class InBucket:
    def __init__(self, uri: str, allowed: str, tenant: str | None) -> None:
        self._uri = uri
        scheme, _, rest = uri.partition("://")
        self._bucket, _, self._key = rest.partition("/")
        self._scheme = scheme.lower()
        parts = self._key.split("/")
        if not self._bucket or not all(parts) or {".", ".."} & set(parts) or not uri.isprintable():
            raise UnsafeUrl(f"an address in a bucket is {self._scheme}://bucket/folder/name, no part empty or '..'")
        if not _is_allowed(f"{self._scheme}://{rest}", allowed, tenant):
            raise UnsafeUrl(
                f"inputs may not be read from {self._scheme}://{plain(self._bucket, 100)}",
                remedy="give a signed https:// link; or who runs this sets TOWPATH_INPUT_BUCKETS to the buckets or folders "
                "that everybody here may read",
            )

    @asynccontextmanager
    async def open(self, offset: int, tag: str | None) -> AsyncIterator[Arriving]:
        store = _store(f"{self._scheme}://{self._bucket}")
        options: dict[str, Any] = {} if tag is None else {"range": {"offset": offset}, "if_match": tag}
        where = f"{self._scheme}://{plain(self._bucket, 100)}"
        try:
            found = await store.get_async(self._key, options=options)  # type: ignore[arg-type]  # only keys that it knows
        except Exception as error:
            raise _meaning(where, error) from None
        yield Arriving(found.meta["size"], found.meta["e_tag"], _pieces(found))


class InFolder:
    """Everything below a folder, which is named like an object but for a slash at its end; a bucket is a folder, too."""

    def __init__(self, uri: str, allowed: str, tenant: str | None) -> None:
        scheme, _, rest = uri.partition("://")
        self._scheme, rest = scheme.lower(), rest.rstrip("/")
        if self._scheme not in SCHEMES:
            raise UnsafeUrl("a folder of a bucket begins with s3://, gs:// or az://")
        self.uri = f"{self._scheme}://{rest}/"
        # The rules are those for an object in it.
        InBucket(f"{self.uri}object", allowed, tenant)
        self._bucket, _, self._folder = rest.partition("/")

    async def addresses(self) -> AsyncIterator[str]:
        store, where = _store(f"{self._scheme}://{self._bucket}"), f"{self._scheme}://{plain(self._bucket, 100)}"
        try:
            async for page in store.list(prefix=self._folder or None):
                for one in page:
                    if one["size"]:  # some tools make an empty object for each folder
                        yield f"{self._scheme}://{self._bucket}/{one['path']}"
        except Exception as error:
            raise _meaning(where, error) from None


def _is_allowed(uri: str, allowed: str, tenant: str | None) -> bool:
    for one in allowed.split(","):
        if "{tenant}" in one and not tenant:
            continue
        folder = one.strip().replace("{tenant}", quote(tenant or "", safe="")).rstrip("/")
        if folder and uri.startswith(f"{folder}/"):
            return True
    return False


def _store(url: str) -> ObjectStore:
    try:
        from obstore.store import from_url
    except ImportError:
        raise Fatal("reading from buckets needs obstore", remedy="pip install 'towpath[buckets]'") from None
    try:
        return from_url(url)
    except Exception as error:
        raise Fatal(
            f"{url} cannot be opened: {plain(str(error), 200)}", remedy="check the variables that its SDK reads"
        ) from None


async def _pieces(found: Any) -> AsyncIterator[bytes]:
    try:
        async for piece in found.stream(min_chunk_size=_PIECE):
            yield bytes(piece)
    except Exception as error:
        raise Broken(type(error).__name__) from None


def _meaning(where: str, error: Exception) -> Exception:
    from obstore import exceptions

    match error:
        case FileNotFoundError() | exceptions.NotFoundError():
            return SchemaInvalid(f"there is nothing at this address in {where}")
        case PermissionError() | exceptions.PermissionDeniedError() | exceptions.UnauthenticatedError():
            return Fatal(
                f"{where} refuses the credentials of this installation", remedy="renew them, or let them read it, then retry"
            )
        case exceptions.PreconditionError():
            return Changed()
        case exceptions.InvalidPathError():
            return SchemaInvalid(f"this is no address in {where}")
        case _:
            return Transient(f"{where} could not be read: {plain(str(error).partition('?')[0], 200)}")
