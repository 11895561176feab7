"""Google's Cloud Storage as a `Bucket`, through obstore.

Its credentials are those by which `TOWPATH_STAGING_URL` is opened: the GOOGLE_ variables.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError, Fatal, Transient

if TYPE_CHECKING:
    from obstore.store import GCSStore

_SCHEME = "gs://"
_CHECK = "check GOOGLE_SERVICE_ACCOUNT or GOOGLE_APPLICATION_CREDENTIALS, and what they may do there"


class GoogleObjects:
    def __init__(self, **options: Any) -> None:
        """`options` are those of obstore's `GCSStore`; what is not given is the environment's."""
        self._options = options
        self._buckets: dict[str, GCSStore] = {}

    def check(self) -> None:
        _library()

    async def open(self, uri: str) -> AsyncGenerator[bytes, None]:
        bucket, name = self._at(uri)
        with _translated(uri):
            found = await bucket.get_async(name)
            async for chunk in found.stream():
                yield bytes(chunk)

    async def write(self, uri: str, chunks: AsyncIterable[bytes]) -> None:
        bucket, name = self._at(uri)
        with _translated(uri):
            await bucket.put_async(name, aiter(chunks))

    async def list(self, folder: str) -> AsyncGenerator[str, None]:
        bucket, prefix = self._at(folder)
        with _translated(folder):
            async for page in bucket.list(prefix):
                for entry in page:
                    yield folder.removesuffix(prefix) + entry["path"]

    async def delete(self, uri: str) -> None:
        bucket, name = self._at(uri)
        with _translated(uri):
            try:
                await bucket.delete_async(name)
            except FileNotFoundError:
                return

    def _at(self, uri: str) -> tuple[GCSStore, str]:
        named, _, name = uri.removeprefix(_SCHEME).partition("/")
        if named not in self._buckets:
            self._buckets[named] = self._opened(named)
        return self._buckets[named], name

    def _opened(self, bucket: str) -> GCSStore:
        store = _library()
        try:
            return store(bucket, **{"retry_config": {"max_retries": 0}, **self._options})
        except Exception as error:  # whatever it is: its text may hold what the variables say
            raise Fatal(f"{_SCHEME}{bucket} cannot be opened ({type(error).__name__})", remedy=_CHECK) from None


def _library() -> type[GCSStore]:
    try:
        from obstore.store import GCSStore
    except ImportError:
        raise ConfigurationError("objects of a bucket need a library: pip install 'towpath[google]'") from None
    return GCSStore


@contextmanager
def _translated(uri: str) -> Iterator[None]:
    """The library's own texts show whole requests, and are told to nobody."""
    from obstore import exceptions as raised

    where = f"{_SCHEME}{uri.removeprefix(_SCHEME).partition('/')[0]}"
    try:
        yield
    except (raised.UnauthenticatedError, raised.PermissionDeniedError, PermissionError):
        raise Fatal(f"the bucket {where} refuses these credentials", remedy=_CHECK) from None
    except FileNotFoundError:
        raise Transient(f"{uri} is not there, or not yet") from None
    except (raised.BaseError, OSError) as error:
        raise Transient(f"the bucket {where} could not be reached, or broke off: {type(error).__name__}") from None
