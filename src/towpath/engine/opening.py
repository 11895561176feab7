"""Opening and closing an app: its database and everything that is made of it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

from towpath import config, wiring
from towpath.blobs import BlobStore
from towpath.blobs.marking import marked
from towpath.core.blocking import beside
from towpath.core.errors import ConfigurationError, StoreUnavailable
from towpath.core.topics import EVENTS
from towpath.engine import tracing
from towpath.engine.budgets import Budgets
from towpath.engine.declarations import Declarations
from towpath.engine.group_commit import GroupCommit
from towpath.engine.providers import Providers
from towpath.engine.resources import Resources
from towpath.engine.running.stints import Stints
from towpath.engine.services import Services
from towpath.engine.sync import Home
from towpath.engine.tending.declaring import Declarer
from towpath.engine.tending.sweeping import database_identity
from towpath.engine.values import Values
from towpath.store.contract import Store
from towpath.store.migrating import Migration, migrate, pending
from towpath.transports import Transport


class Opening(Declarations):
    """What an app is while it is opened, open and closed again. What can be done with it then is in `App`."""

    def __init__(
        self,
        url: str,
        settings: config.Settings,
        clock: Callable[[], float],
        *,
        migrate_on_start: bool,
        blobs_on_start: bool,
    ) -> None:
        super().__init__()
        self.url, self.settings, self.clock = url, settings, clock
        self._migrate_on_start, self._blobs_on_start = migrate_on_start, blobs_on_start
        self._services: Services | None = None
        self._workers: Stints = {}
        self._home: Home | None = None
        self._declarer = Declarer()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        if self._services is not None:
            return
        self._home = Home(os.getpid(), asyncio.get_running_loop())
        tracing.set_up(self.settings)
        store = wiring.make_store(self.url, self.settings, self.clock)
        for part in self._slices:
            if part.queries is not None:
                store.queries.load(part.queries)
        await store.open()
        try:
            await self._prepare(store)
            self._services = self._assemble(store, await database_identity(store))
            await self._services.transport.open()
            _let_ring(store, self._services.transport)
            await self._declarer.open(self._services, list(self._plans.values()))
        except BaseException:
            if self._services is not None:
                await self._services.transport.close()
            self._services = None
            await store.close()
            raise

    async def _prepare(self, store: Any) -> None:
        if self._migrate_on_start:
            await migrate(store, self._slices)
        elif missing := await pending(store, self._slices):
            raise ConfigurationError(
                f"the database lacks {len(missing)} migrations, first {missing[0]}; run: towpath migrate"
            )

    def _assemble(self, store: Any, database: str) -> Services:
        blobs = marked(wiring.make_blobs(self.url, self.settings, on_start=self._blobs_on_start), database)
        keepers = {folder: query for part in self._slices for folder, query in part.blobs.items()}
        values = Values(blobs, inline_bytes=self.settings.inline_bytes, max_bytes=self.settings.max_payload_bytes)
        transport = wiring.make_transport(self.settings, store, database)
        return Services(
            self.settings, self.registry, store, transport, blobs, values, self._budgets(store),
            Resources(self.resource_factories), GroupCommit(store), self._retention, keepers, database, sorted(self._plans),
            workloads=self._workloads, providers=Providers(self._providers), explainers=self._explainers, loops=self._loops,
        )  # fmt: skip

    def _budgets(self, store: Any) -> Budgets:
        # A test's clock may jump, and what is remembered of a budget has to jump with it.
        return Budgets(store) if self.clock is time.time else Budgets(store, self.clock)

    async def close(self) -> None:
        """Closes everything, after the workers of this app have finished or handed back what they run."""
        for worker in self._workers:
            worker.stop()
        if self._workers:
            await asyncio.wait(set(self._workers.values()))
        services, self._services = self._services, None
        if services is None:
            return
        await self._declarer.close()
        await services.group_commit.close()
        await services.resources.close()
        await services.providers.close()
        services.threads.shutdown(wait=False, cancel_futures=True)
        await services.transport.close()
        await services.store.close()
        await services.blobs.aclose()
        if self.settings.otel_endpoint:
            await beside(tracing.flush)

    @property
    def home(self) -> Home | None:
        """The process and the event loop that the app is open in; None while it is closed."""
        return self._home if self._services is not None else None

    @property
    def services(self) -> Services:
        if self._services is None:
            raise StoreUnavailable("the app is not open; use it inside `async with app:`")
        return self._services

    @property
    def blobs(self) -> BlobStore:
        """Where large things are kept. What a slice puts there, it registers the folder of: `Slice(blobs=…)`."""
        return self.services.blobs

    async def migrate(self) -> list[Migration]:
        """Applies what the database lacks, and answers what that was; the app need not be open."""
        async with self._bare_store() as store:
            return await migrate(store, self._slices)

    async def pending_migrations(self) -> list[Migration]:
        """What `migrate` would apply; the app need not be open."""
        async with self._bare_store() as store:
            return await pending(store, self._slices)

    @asynccontextmanager
    async def _bare_store(self) -> AsyncIterator[Store]:
        """The open store, or one opened for the occasion: an app with migrations pending may refuse to open."""
        if self._services is not None:
            yield self._services.store
            return
        store = wiring.make_store(self.url, self.settings, self.clock)
        await store.open()
        try:
            yield store
        finally:
            await store.close()


def _let_ring(store: Store, transport: Transport) -> None:
    """Every commit rings by the transport. Events of other processes are listened for when somebody here follows them."""
    store.ring = transport.ring
    listening: list[Callable[[], None]] = []

    def followed() -> None:
        if not listening:
            listening.append(transport.listen(store.heard, [EVENTS]))

    store.followed = followed
