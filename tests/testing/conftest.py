"""Large values of apps on PostgreSQL go to the test's own directory, not to the one pytest was started in."""

import pytest


@pytest.fixture(autouse=True)
def _own_blobs(tmp_path, monkeypatch):
    monkeypatch.setenv("TOWPATH_BLOBS_URL", (tmp_path / "blobs").as_uri())
