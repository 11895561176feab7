"""What Towpath writes is for nobody else on the machine, also in a folder that everybody can enter."""

import os
import stat

import pytest

from towpath import App, Settings
from towpath.store import private


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def place(tmp_path):
    tmp_path.chmod(0o755)
    return tmp_path


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def modes(folder):
    return {path.relative_to(folder): mode(path) for path in folder.rglob("*")}


async def work(place, name="jobs.db"):
    app = App(f"sqlite:///{place}/{name}", settings=Settings(inline_bytes=100))
    async with app:
        await app.enqueue("op", "x" * 1000, queue="q")
        await app.backup(place / "copy.db")
        return modes(place)


async def test_every_file_is_its_owners_and_every_folder_too(place):
    found = await work(place)
    names = {str(path) for path in found}
    assert {"jobs.db", "jobs.db-wal", "jobs.db-shm", "jobs.db-next", "jobs.db-write", "copy.db"} <= names
    assert any("blobs" in name for name in names)
    loose = {str(path): oct(bits) for path, bits in found.items() if bits & 0o077}
    assert loose == {}


async def test_folders_that_are_made_on_the_way_are_private_and_those_that_were_there_stay(place):
    async with App(f"sqlite:///{place}/a/b/jobs.db"):
        assert (mode(place / "a"), mode(place / "a" / "b"), mode(place)) == (0o700, 0o700, 0o755)


async def test_files_from_before_are_tightened(place):
    await work(place)
    for path in private.files_of(place / "jobs.db"):
        if path.exists():
            path.chmod(0o644)
    async with App(f"sqlite:///{place}/jobs.db"):
        assert {mode(path) for path in private.files_of(place / "jobs.db") if path.exists()} == {0o600}


@pytest.mark.parametrize(("was", "becomes"), [(0o660, 0o660), (0o664, 0o660), (0o640, 0o600), (0o644, 0o600)])
async def test_what_a_group_shares_stays_shared(place, was, becomes):
    path = place / "jobs.db"
    path.touch()
    path.chmod(was)
    assert bool(private.loose([path])) == (was != becomes)
    private.tighten([path])
    assert mode(path) == becomes
