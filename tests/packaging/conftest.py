"""The project as somebody clones it."""

import shutil

import pytest

from tests.docs.pages import ROOT

UI = "src/towpath/server/ui"


@pytest.fixture
def clone(tmp_path):
    """The project without anything generated, as it is cloned."""
    place = tmp_path / "clone"
    left_out = shutil.ignore_patterns(".git", ".venv", "node_modules", "__pycache__", ".*_cache", ".hypothesis", "dist")
    shutil.copytree(ROOT, place, ignore=left_out)
    shutil.rmtree(place / UI, ignore_errors=True)
    return place
