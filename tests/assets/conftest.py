"""An app with the tables of assets, on each database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from towpath import App, Settings
from towpath.server import attach


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(blobs_url=(tmp_path / "blobs").as_uri(), pool_size=4, max_upload_bytes=3_000_000)


@pytest.fixture
async def app(database_url: str, settings: Settings) -> AsyncIterator[App]:
    async with attach(App(database_url, settings=settings)) as app:
        yield app
