"""Where objects of tasks lie: in buckets that anybody's keys may be in, or in this installation's own blob store."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from towpath import App, BlobStore, ConfigurationError, Fatal, SchemaInvalid, Transient, plain_text
from towpath.fleet.names import HERE

_PIECE = 1024 * 1024
SCHEMES = ("s3", "gs", "az")
_LONGEST_KEY = 1024


@dataclass(frozen=True, slots=True)
class Found:
    key: str
    size: int
    etag: str


class Storage(Protocol):
    """Keys are taken as they are. What fails is Transient, or Fatal if our own credentials are refused."""

    async def head(self, key: str) -> Found | None: ...

    def open(self, key: str) -> AsyncGenerator[bytes, None]: ...

    async def put(self, key: str, data: bytes) -> None: ...

    async def move(self, source: str, target: str) -> None: ...

    async def delete(self, key: str) -> None: ...

    async def sign(self, key: str, method: str, seconds: float) -> str | None:
        """None where only links of our own open anything."""
        ...


class Storages:
    """Those of an app, each opened when it is first needed: `app.part(Storages).of(app, address)`."""

    def __init__(self) -> None:
        self._opened: dict[str, Bucket] = {}

    def of(self, app: App, address: str) -> Storage:
        if address == HERE:
            return Here(app.blobs)
        return self.bucket(address)

    def bucket(self, address: str) -> Bucket:
        if address not in self._opened:
            self._opened[address] = Bucket(address)
        return self._opened[address]


def storage_of(app: App, address: str) -> Storage:
    return app.part(Storages).of(app, address)


@dataclass(frozen=True, slots=True)
class Place:
    """A bucket, and a folder of it that may be empty."""

    bucket: str
    folder: str

    def key(self, name: str) -> str:
        return f"{self.folder}{name}"


def place_of(url: str, what: str) -> Place:
    """Of `s3://bucket/folder`."""
    scheme, _, rest = url.partition("://")
    bucket, _, folder = rest.strip().partition("/")
    if scheme.lower() not in SCHEMES or not bucket or any(mark in rest for mark in "?#@"):
        raise ConfigurationError(f"{what} is a bucket or a folder of one, such as s3://bucket/folder; got {url[:100]!r}")
    folder = folder.strip("/")
    return Place(f"{scheme.lower()}://{bucket}", f"{folder}/" if folder else "")


class Here:
    """The blob store of this installation."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    async def head(self, key: str) -> Found | None:
        found = await self._blobs.head(key)
        return None if found is None else Found(key, found.size, found.etag)

    async def open(self, key: str) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._blobs.open(key)) as pieces:
            async for piece in pieces:
                yield piece

    async def put(self, key: str, data: bytes) -> None:
        await self._blobs.put(key, data)

    async def move(self, source: str, target: str) -> None:
        await self._blobs.move(source, target)

    async def delete(self, key: str) -> None:
        await self._blobs.delete(key)

    async def sign(self, key: str, method: str, seconds: float) -> str | None:
        return await self._blobs.sign(key, method="PUT" if method == "PUT" else "GET", seconds=seconds)


class Bucket:
    """Credentials, region and endpoint are those of the variables that every SDK reads."""

    def __init__(self, address: str) -> None:
        try:
            from obstore.store import from_url
        except ImportError:
            raise ConfigurationError(f"{address} needs a library; pip install 'towpath[buckets]'") from None
        self.address = address
        retry: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
        try:
            self._store: Any = from_url(address, retry_config=retry)
        except Exception as error:  # whatever it is: its text may hold what the variables say
            raise ConfigurationError(
                f"{address} cannot be opened ({type(error).__name__}); check the variables that its SDK reads, such as "
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT"
            ) from None

    async def head(self, key: str) -> Found | None:
        if key.startswith("/") or len(key.encode()) > _LONGEST_KEY:
            raise self._no_key()  # the library would look for another one
        try:
            told = await self._store.head_async(key)
        except FileNotFoundError:
            return None
        except Exception as error:
            raise self._meaning(error) from None
        return Found(key, told["size"], (told["e_tag"] or "").strip('"'))

    async def open(self, key: str) -> AsyncGenerator[bytes, None]:
        try:
            found = await self._store.get_async(key)
            async for piece in found.stream(min_chunk_size=_PIECE):
                yield bytes(piece)
        except Exception as error:
            raise self._meaning(error) from None

    async def put(self, key: str, data: bytes) -> None:
        try:
            await self._store.put_async(key, data)
        except Exception as error:
            raise self._meaning(error) from None

    async def move(self, source: str, target: str) -> None:
        try:
            await self._store.copy_async(source, target)
        except Exception as error:
            raise self._meaning(error) from None
        await self.delete(source)

    async def delete(self, key: str) -> None:
        try:
            await self._store.delete_async(key)
        except FileNotFoundError:
            return
        except Exception as error:
            raise self._meaning(error) from None

    async def sign(self, key: str, method: str, seconds: float) -> str | None:
        from obstore import sign_async

        try:
            return str(await sign_async(self._store, "PUT" if method == "PUT" else "GET", key, timedelta(seconds=seconds)))
        except Exception as error:
            raise self._meaning(error) from None

    async def list(self, folder: str, after: str) -> AsyncIterator[list[Found]]:
        """Pages of what lies below a folder, from a key on, in the order of keys."""
        try:
            async for page in self._store.list(prefix=folder.rstrip("/") or None, offset=after or None, chunk_size=500):
                yield [Found(one["path"], one["size"], (one["e_tag"] or "").strip('"')) for one in page]
        except Exception as error:
            raise self._meaning(error) from None

    def _no_key(self) -> SchemaInvalid:
        return SchemaInvalid(f"this is no key that an object in {self.address} can have here")

    def _meaning(self, error: Exception) -> Exception:
        """What stands behind a question mark may be a signature."""
        from obstore import exceptions

        match error:
            case FileNotFoundError() | exceptions.NotFoundError():
                return SchemaInvalid(f"there is no such object in {self.address}")
            case PermissionError() | exceptions.PermissionDeniedError() | exceptions.UnauthenticatedError():
                return Fatal(
                    f"{self.address} refuses the credentials of this installation", remedy="renew them, then requeue"
                )
            case exceptions.InvalidPathError() | ValueError():
                return self._no_key()
            case _:
                said = plain_text(str(error).partition("?")[0], 200)
                return Transient(f"{self.address} could not be asked: {said}")
