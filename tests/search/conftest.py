"""An app with search on each database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.search.shelf import Shelf
from towpath import App, Settings, search


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.1, lease_seconds=1.5, pool_size=4)


@pytest.fixture
async def shelf(database_url: str, settings: Settings) -> AsyncIterator[Shelf]:
    app = App(database_url, settings=settings)
    search.attach(app)
    async with app:
        yield Shelf(app)
