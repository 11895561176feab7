"""Packages carry the web UI, also a wheel that is made from the sdist, or they are not made at all."""

import subprocess
import sys
import tarfile
import zipfile

import pytest

from tests.packaging.conftest import UI

# The first releases of Python 3.11 know no filters, and later ones warn of going without.
SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def build(place, target):
    command = [sys.executable, "-m", "hatchling", "build", "-t", target]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=120, check=False)


def test_the_sdist_and_the_wheel_made_from_it_carry_the_built_ui(clone, tmp_path):
    (clone / UI / "assets").mkdir(parents=True)
    (clone / UI / "index.html").write_text("<head></head>")
    (clone / UI / "assets/page-1a2b.js").write_text("1")
    assert (made := build(clone, "sdist")).returncode == 0, made.stderr
    [packed] = (clone / "dist").glob("*.tar.gz")
    with tarfile.open(packed) as sdist:
        sdist.extractall(tmp_path / "sdist", **SAFELY)
    [unpacked] = (tmp_path / "sdist").iterdir()
    assert (unpacked / UI / "assets/page-1a2b.js").is_file()
    assert (unpacked / "Makefile").is_file()
    assert (made := build(unpacked, "wheel")).returncode == 0, made.stderr
    [wheel] = (unpacked / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"towpath/server/ui/index.html", "towpath/server/ui/assets/page-1a2b.js"} <= set(names)
    assert "towpath/store/queries/jobs.sql" in names
    assert not [name for name in names if not name.startswith("towpath")]


@pytest.mark.parametrize("target", ["sdist", "wheel"])
def test_without_a_built_ui_nothing_is_packed_and_the_way_to_it_is_told(clone, target):
    made = build(clone, target)
    assert made.returncode != 0
    assert "the web UI has not been built" in made.stderr
    assert "make web" in made.stderr
    assert not [*clone.glob("dist/*")]
