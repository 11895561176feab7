"""What lies below a folder of a bucket, where the settings let inputs be read from it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from towpath.config import Settings
from towpath.outbound.buckets import InFolder


def check_folder(settings: Settings, uri: str, *, tenant: str | None = None) -> str:
    """The folder's address, ending in a slash. SchemaInvalid if it must not be read, as far as is known."""
    return InFolder(uri, settings.input_buckets, tenant).uri


async def list_folder(settings: Settings, uri: str, *, tenant: str | None = None) -> AsyncIterator[str]:
    """The address of every object below it. Fatal if our credentials do not open it, Transient if it may be there later."""
    async for address in InFolder(uri, settings.input_buckets, tenant).addresses():
        yield address
