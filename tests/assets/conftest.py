"""An app with the tables of assets, on each database; and a server, with a purpose of its own that takes uploads."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.assets.tus import Notes
from tests.server.api.site import Site, opened_site
from towpath import App, Settings
from towpath.recordings import upload_route
from towpath.server import attach
from towpath.server.routes import uploads as upload_routes
from towpath.server.upload_worker import UploadWorker


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(blobs_url=(tmp_path / "blobs").as_uri(), pool_size=4, max_upload_bytes=3_000_000)


@pytest.fixture
async def app(database_url: str, settings: Settings) -> AsyncIterator[App]:
    async with attach(App(database_url, settings=settings)) as app:
        yield app


@pytest.fixture
async def lite(sqlite_url: str, settings: Settings) -> AsyncIterator[App]:
    """For what does not depend on the database."""
    async with attach(App(sqlite_url, settings=settings)) as app:
        yield app


@pytest.fixture
def notes() -> Notes:
    """A product that takes uploads for the purpose `note`."""
    return Notes()


@pytest.fixture
async def site(database_url: str, settings: Settings, notes: Notes) -> AsyncIterator[Site]:
    async with opened_site(notes.attached(App(database_url, settings=settings))) as site:
        yield site


@pytest.fixture
async def small_site(sqlite_url: str, settings: Settings, notes: Notes) -> AsyncIterator[Site]:
    """For what does not depend on the database."""
    async with opened_site(notes.attached(App(sqlite_url, settings=settings))) as site:
        yield site


@pytest.fixture
def nobody_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server has no worker of its own, and waits only a moment for others."""
    monkeypatch.setattr(UploadWorker, "_begin", lambda _: None)
    monkeypatch.setattr(upload_routes, "HANDING_OVER", 0.05)
    monkeypatch.setattr(upload_route, "HANDING_OVER", 0.05)
