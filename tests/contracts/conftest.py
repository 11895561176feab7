"""An open store on each database."""

from collections.abc import AsyncIterator

import pytest

from tests.contracts.stores import Hands, opened


@pytest.fixture
async def hands(database_url: str) -> AsyncIterator[Hands]:
    async with opened(database_url) as own:
        yield own
