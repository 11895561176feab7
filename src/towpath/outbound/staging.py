"""The place for inputs that a batch provider could not read where they are: a bucket that the settings name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from towpath.blobs import BlobError, BlobStore, bucket_of
from towpath.config import Settings
from towpath.core.errors import ConfigurationError
from towpath.wiring import open_blobs

_SETTING = "TOWPATH_STAGING_URL"


def scheme_of(uri: str | None) -> str:
    """`s3`, `gs`, `az`, `https`, …; empty if it is no address."""
    return (uri or "").partition("://")[0].lower() if "://" in (uri or "") else ""


@asynccontextmanager
async def staging_store(settings: Settings) -> AsyncIterator[BlobStore | None]:
    """The bucket of the settings for as long as it is needed; None if they name none."""
    if not settings.staging_url:
        yield None
        return
    try:
        if bucket_of(settings.staging_url) is None:
            raise ConfigurationError(f"{_SETTING} must name a bucket, such as s3://bucket/folder")
        store = open_blobs(settings.staging_url)
    except BlobError as error:
        raise ConfigurationError(f"{_SETTING}: {error}") from None
    try:
        yield store
    finally:
        await store.aclose()
