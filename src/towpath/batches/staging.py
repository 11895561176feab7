"""Brings the inputs of a transcription to where its provider can read them.

| the provider reads | an input that is there already | any other |
|---|---|---|
| nothing, it is sent files | | a blob; what is at an address is fetched into one |
| `s3`, `gs` | as it is | a copy in a bucket: that of the settings, or the blob store's own |
| `https` | as it is | a signed link: the bucket's own, or one of this server's |

Whatever is put somewhere lies below one folder of the batch, in the blob store and in the bucket of the settings, and goes
with the batch's work.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import PurePath

from towpath import BlobStore, ConfigurationError, Context, Fatal, SchemaInvalid, Settings, Transient
from towpath.assets import MEDIA
from towpath.assets.intake import Intake
from towpath.batches import links
from towpath.batches.input_list import Given
from towpath.batches.names import heard_key, link_secret_key, returned_prefix, staged_prefix, work_prefix
from towpath.batches.records import Batch
from towpath.outbound.sources import is_address, open_source
from towpath.outbound.staging import scheme_of, staging_store
from towpath.providers import Provider

ATTEMPTS = 5
_AT_ONCE = 4
_LONGEST_SIGNED = 7 * 86400.0
"""Buckets sign for no longer."""
_SUFFIX = re.compile(r"\.[a-z0-9]{1,8}")
_BUCKETS = frozenset({"s3", "gs"})


class Staging:
    """For one batch. `bucket` is that of the settings, if they name one."""

    def __init__(self, ctx: Context, batch: Batch, provider: Provider, bucket: BlobStore | None) -> None:
        self._ctx, self._batch, self._provider, self._bucket = ctx, batch, provider, bucket
        self._reads, self._folder = provider.reads, staged_prefix(batch.id)
        self._secret = b""

    def check(self, found: Sequence[Given]) -> None:
        """That there is a place for everything that needs one, before anything is fetched."""
        if any(one.reason is None and not self._there(one) for one in found):
            self._check_place()
        if "gs" in self._reads:
            self.results_folder()

    async def place_all(self, found: Sequence[Given]) -> None:
        """Sets where each can be read, or the reason why it cannot. What is in its place already is left as it is."""
        doors = asyncio.Semaphore(_AT_ONCE)
        outcomes = await asyncio.gather(
            *(self._place(one, doors) for one in found if one.reason is None), return_exceptions=True
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome

    def results_folder(self) -> str | None:
        """Who reads from Google's buckets writes its results there, too."""
        if "gs" not in self._reads:
            return None
        uri = self._store_of(frozenset({"gs"}), "its results").uri(f"{returned_prefix(self._batch.id)}/x")
        assert uri is not None
        return uri.removesuffix("x")

    def _there(self, one: Given) -> bool:
        """Whether it needs no place that its provider could read."""
        return not self._reads or (is_address(one.input) and scheme_of(one.input) in self._reads)

    def _check_place(self) -> None:
        if self._reads & _BUCKETS:
            self._store_of(self._reads & _BUCKETS, "inputs that are elsewhere")
        elif self._bucket is None and not self._own_links() and scheme_of(self._ctx.blobs.uri(f"{self._folder}/x")) == "":
            raise Fatal(
                f"{self._provider.name} fetches its inputs by https://, and nobody outside can fetch what is here",
                remedy="give https:// addresses, or set TOWPATH_BASE_URL to the https:// address of this server, or "
                "TOWPATH_STAGING_URL or TOWPATH_BLOBS_URL to a bucket",
            )

    def _own_links(self) -> bool:
        return self._ctx.settings.base_url.lower().startswith("https://")

    def _store_of(self, schemes: frozenset[str], what: str) -> BlobStore:
        for store in (self._bucket, self._ctx.blobs):
            if store is not None and scheme_of(store.uri(f"{self._folder}/x")) in schemes:
                return store
        wanted = " or ".join(f"{one}://" for one in sorted(schemes))
        raise Fatal(
            f"{self._provider.name} works on {wanted}, and there is no such place here for {what}",
            remedy=f"set TOWPATH_STAGING_URL to a folder of a bucket that begins with {wanted}, where the workers run",
        )

    async def _place(self, one: Given, doors: asyncio.Semaphore) -> None:
        """A place that is away for now is asked again with the next attempt; the last one says so of the input."""
        async with doors:
            try:
                await self._put(one)
            except SchemaInvalid as error:
                one.reason = str(error)
            except Transient as error:
                if self._ctx.attempt < ATTEMPTS:
                    raise
                one.reason = str(error)

    async def _put(self, one: Given) -> None:
        if not self._reads:
            one.blob = one.blob or await self._copied(one, self._ctx.blobs)
        elif self._there(one):
            one.uri = one.input
        elif self._reads & _BUCKETS:
            store = self._store_of(self._reads & _BUCKETS, "inputs that are elsewhere")
            in_place = one.blob if store is self._ctx.blobs else None
            one.uri = store.uri(in_place or await self._copied(one, store))
        else:
            one.uri = await self._linked(one)

    async def _linked(self, one: Given) -> str:
        settings = self._ctx.settings
        seconds = min(settings.task_timeout_hours * 3600, _LONGEST_SIGNED)
        store = self._bucket or self._ctx.blobs
        key = one.blob if one.blob and store is self._ctx.blobs else await self._copied(one, store)
        signed = await store.sign(key, seconds=seconds)
        if signed is not None:
            return signed
        self._secret = self._secret or await links.draw(self._ctx.blobs, self._batch.id)
        what = links.Opened(key, one.name)
        return links.link(settings.base_url, self._secret, self._batch.id, one.number, what, time.time() + seconds)

    async def _copied(self, one: Given, store: BlobStore) -> str:
        """The key of its copy, which is made unless an earlier attempt has."""
        suffix = PurePath(one.name).suffix.lower()
        key = f"{self._folder}/{one.number}{suffix if _SUFFIX.fullmatch(suffix) else ''}"
        there = await store.head(key)
        if there is None:
            async with content(self._ctx, self._batch.tenant, one) as pieces:
                there = await store.put(key, pieces)
        one.size = there.size
        return key


@asynccontextmanager
async def content(ctx: Context, tenant: str, one: Given) -> AsyncIterator[AsyncIterator[bytes]]:
    """The bytes of an input, wherever it is; what turns out to be no audio breaks off as SchemaInvalid."""
    limit = ctx.settings.max_upload_bytes
    async with AsyncExitStack() as stack:
        if one.blob is not None:
            yield await stack.enter_async_context(aclosing(ctx.blobs.open(one.blob)))
            return
        source = await stack.enter_async_context(open_source(ctx.settings, one.input, tenant=tenant, limit=limit or None))
        yield Intake(one.name, MEDIA, limit).pieces(aiter(source))


@asynccontextmanager
async def opened_staging(ctx: Context, batch: Batch, provider: Provider) -> AsyncIterator[Staging]:
    try:
        async with staging_store(ctx.settings) as bucket:
            yield Staging(ctx, batch, provider, bucket)
    except ConfigurationError as error:
        raise Fatal(str(error), remedy="put the setting right where the workers run, then retry") from error


async def results_folder(ctx: Context, batch: Batch, provider: Provider) -> str | None:
    """Where a provider that writes to a bucket is to put its results; an error says so if there is no such place."""
    if "gs" not in provider.reads:
        return None
    async with opened_staging(ctx, batch, provider) as staging:
        return staging.results_folder()


async def forget_staged(settings: Settings, blobs: BlobStore, batch_id: str) -> None:
    """The inputs that were put somewhere, and what opens them; not what has come back of them. Idempotent."""
    for key in (link_secret_key(batch_id), heard_key(batch_id)):
        await blobs.delete(key)
    await _delete(settings, blobs, staged_prefix(batch_id))


async def forget_work(settings: Settings, blobs: BlobStore, batch_id: str) -> None:
    """All of a batch's work, here and in the bucket of the settings. Idempotent."""
    await _delete(settings, blobs, work_prefix(batch_id))


async def _delete(settings: Settings, blobs: BlobStore, folder: str) -> None:
    await blobs.delete_prefix(folder)
    async with staging_store(settings) as bucket:
        if bucket is not None:
            await bucket.delete_prefix(folder)
