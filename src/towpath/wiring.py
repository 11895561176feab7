"""The only file that names concrete adapters: which stores, transports and blob stores there are, and how each is opened."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from towpath.blobs import BUCKETS, BlobStore, bucket_of, directory_of, lazily
from towpath.config import Settings, blobs_beside, sqlite_path
from towpath.core.errors import ConfigurationError
from towpath.core.masking import masked
from towpath.store.contract import Store
from towpath.transports import Transport

_VARIABLES = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT",
    "gs": "GOOGLE_SERVICE_ACCOUNT or GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
"""Where each kind of bucket looks for its credentials first."""


def make_store(url: str, settings: Settings, clock: Callable[[], float] = time.time) -> Store:
    if url.startswith("sqlite:"):
        from towpath.store.sqlite import SqliteStore

        return SqliteStore(sqlite_path(url), url=url, clock=clock)
    if url.startswith(("postgresql:", "postgres:")):
        from towpath.store.postgres import PostgresStore

        if clock is not time.time:
            raise ConfigurationError("PostgreSQL keeps its own time; an app with another clock needs a SQLite database")
        return PostgresStore(
            url,
            pool_size=settings.pool_size,
            checkout_seconds=settings.checkout_seconds,
            idle_seconds=settings.lease_seconds,
        )
    raise ConfigurationError(
        f"no database answers to {url.split(':', 1)[0]!r}; use sqlite:///path/to/jobs.db or postgresql://user@host/name"
    )


def make_transport(settings: Settings, store: Store, installation: str) -> Transport:
    """The transport that the setting names. `installation` tells its bells from those of others at the same broker."""
    from towpath.transports.database import DatabaseTransport

    url, rest, own = settings.transport, settings.poll_seconds, DatabaseTransport(store.bell)
    if url in ("", "database"):
        return own
    match url.partition(":")[0]:
        case "amqp" | "amqps":
            from towpath.transports.rabbitmq import RabbitTransport

            return RabbitTransport(url, installation, rest)
        case "sqs":
            from towpath.transports.sqs import SqsTransport

            return SqsTransport(url, installation, rest, own)
        case "pubsub":
            from towpath.transports.pubsub import PubSubTransport

            return PubSubTransport(url, own)
    raise ConfigurationError(
        f"TOWPATH_TRANSPORT={masked(url)} names no transport; use database, amqp://user:password@host/vhost, "
        "sqs://region/prefix or pubsub://project/topic"
    )


def components() -> list[tuple[str, str, str | None]]:
    """What the databases are spoken to with: name, version, and what is wrong with it, if anything."""
    import apsw
    import asyncpg

    from towpath.store.sqlite.connection import check_version

    wrong: str | None = None
    try:
        check_version(apsw.sqlite_lib_version())
    except ConfigurationError as error:
        wrong = str(error)
    return [
        ("apsw", apsw.apsw_version(), None),
        ("SQLite", apsw.sqlite_lib_version(), wrong),
        ("asyncpg", asyncpg.__version__, None),
    ]


def make_blobs(url: str, settings: Settings, *, on_start: bool = True) -> BlobStore:
    if not on_start:
        return lazily(lambda: make_blobs(url, settings))
    if settings.blobs_url:
        return open_blobs(settings.blobs_url)
    if url.startswith("sqlite:"):
        return open_blobs(blobs_beside(sqlite_path(url)).absolute().as_uri())
    return open_blobs(Path("towpath-blobs").absolute().as_uri())


def open_blobs(url: str) -> BlobStore:
    """The blob store that a URL names; InvalidBlobUrl if it names none."""
    if place := bucket_of(url):
        return _open_bucket(*place)
    from towpath.blobs.local import LocalBlobs

    return LocalBlobs(directory_of(url))


def _open_bucket(scheme: str, bucket: str, prefix: str) -> BlobStore:
    """Credentials, region and endpoint are those of the AWS_, GOOGLE_ and AZURE_ variables, which obstore reads itself."""
    try:
        import obstore.store as stores
    except ImportError:
        raise ConfigurationError(f"{scheme}:// needs a library; pip install 'towpath[buckets]'") from None
    from towpath.blobs.buckets import BucketBlobs

    address = f"{scheme}://{bucket}/{prefix}".rstrip("/")
    # Whoever waits would wait three minutes by default. Jobs are tried again later in any case.
    retry = {"max_retries": 5, "retry_timeout": timedelta(seconds=30)}
    try:
        store = getattr(stores, BUCKETS[scheme])(bucket, prefix=prefix or None, retry_config=retry)
    except Exception as error:  # whatever it is: its text may hold what the variables say
        raise ConfigurationError(
            f"the blob store at {address} cannot be opened ({type(error).__name__}); check {_VARIABLES[scheme]}"
        ) from None
    return BucketBlobs(store, address)
