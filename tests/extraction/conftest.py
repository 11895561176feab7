"""Processes that read documents, shared by the tests of a file: each of them would load the library anew."""

from collections.abc import AsyncIterator

import pytest

from towpath.extraction import Extractors, Limits


@pytest.fixture
async def extractors() -> AsyncIterator[Extractors]:
    async with Extractors(Limits(seconds=120), spare=False) as made:
        yield made
