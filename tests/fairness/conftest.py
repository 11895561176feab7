from collections.abc import AsyncIterator

import pytest

from tests.fairness.line import Line, open_line


@pytest.fixture
async def line(database_url: str) -> AsyncIterator[Line]:
    async with open_line(database_url) as opened:
        yield opened
