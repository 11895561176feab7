"""Settings of the tests' own making, and a service that speaks OpenAI's wire protocol on loopback."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.models.wire_server import WireServer
from towpath.config import Settings

Make = Callable[..., Settings]


@pytest.fixture
def settings(tmp_path: Path) -> Make:
    """Settings whose models lie in a directory of this test."""

    def make(**values: object) -> Settings:
        return Settings(**{"models_dir": str(tmp_path / "models")} | values)  # type: ignore[arg-type]

    return make


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server
