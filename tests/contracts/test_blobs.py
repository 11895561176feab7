"""What a blob store promises, run on every implementation; then what only the local directory can show."""

import asyncio
import os
import signal
import stat
import sys
import time
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from towpath.blobs import (
    MAX_KEY_LENGTH,
    BlobError,
    BlobNotFound,
    BlobStore,
    BlobStoreClosed,
    BlobStoreUnavailable,
    InvalidBlobKey,
    InvalidBlobUrl,
)
from towpath.blobs.local import LocalBlobs
from towpath.wiring import open_blobs

MIB = 1024 * 1024


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture(params=["local", "s3"])
async def blobs(request: pytest.FixtureRequest, root: Path) -> AsyncIterator[BlobStore]:
    store = open_blobs(root.as_uri() if request.param == "local" else request.getfixturevalue("s3_url"))
    yield store
    await store.aclose()


@pytest.fixture
async def local(root: Path) -> AsyncIterator[LocalBlobs]:
    store = LocalBlobs(root)
    yield store
    await store.aclose()


async def streamed(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def collected(stream: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in stream])


async def keys(store: BlobStore, prefix: str = "") -> list[str]:
    return sorted([info.key async for info in store.list(prefix)])


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())


async def test_a_blob_reads_back_as_it_was_put(blobs: BlobStore) -> None:
    await blobs.put("jobs/1/out.json", b'{"text": "\x00"}')
    assert await blobs.get("jobs/1/out.json") == b'{"text": "\x00"}'


@pytest.mark.parametrize("pieces", [(), (b"",), (b"a", b"", b"bc"), (b"x" * (MIB - 1), b"yz"), (b"q" * (3 * MIB + 1),)])
async def test_a_streamed_blob_equals_its_pieces(blobs: BlobStore, pieces: tuple[bytes, ...]) -> None:
    info = await blobs.put("audio", streamed(*pieces))
    assert info.size == len(b"".join(pieces))
    assert await blobs.get("audio") == b"".join(pieces)
    assert await collected(blobs.open("audio")) == b"".join(pieces)


async def test_the_empty_blob_exists(blobs: BlobStore) -> None:
    await blobs.put("empty", b"")
    assert await blobs.get("empty") == b""
    assert await keys(blobs) == ["empty"]


async def test_head_says_what_put_said(blobs: BlobStore) -> None:
    before = datetime.now(UTC)
    info = await blobs.put("a/b", b"12345")
    assert await blobs.head("a/b") == info
    assert (info.key, info.size) == ("a/b", 5)
    assert abs(info.created - before) < timedelta(minutes=1)


async def test_replacing_a_blob_changes_its_etag_even_with_the_same_size(blobs: BlobStore) -> None:
    etags = [(await blobs.put("a", b"%d" % n)).etag for n in range(10)]
    assert len(set(etags)) == 10
    assert await blobs.get("a") == b"9"


async def test_a_missing_blob_is_said_to_be_missing_by_its_key(blobs: BlobStore) -> None:
    assert await blobs.head("no/such") is None
    with pytest.raises(BlobNotFound, match=r"'no/such'.*check the key"):
        await blobs.get("no/such")
    with pytest.raises(BlobNotFound):
        await collected(blobs.open("no/such"))
    with pytest.raises(BlobNotFound):
        await collected(blobs.open("no/such", 0, 0))
    with pytest.raises(BlobNotFound):
        await blobs.move("no/such", "target")


async def test_a_folder_is_not_a_blob_and_a_blob_is_not_a_folder(blobs: BlobStore) -> None:
    await blobs.put("a/b", b"x")
    assert await blobs.head("a") is None
    assert await blobs.head("a/b/c") is None
    with pytest.raises(BlobNotFound):
        await blobs.get("a")
    await blobs.delete("a")
    await blobs.delete("a/b/c")
    assert await keys(blobs) == ["a/b"]


BAD_KEYS = {
    "empty": "",
    "NUL": "a\0b",
    "parent": "..",
    "parent inside": "a/../b",
    "self": "a/./b",
    "absolute": "/etc/passwd",
    "trailing slash": "a/",
    "double slash": "a//b",
    "hidden": ".tmp/x",
    "backslash": "a\\b",
    "newline at the end": "a\n",
    "space": "a b",
    "not ASCII": "übung",
    "lone surrogate": "\ud800",
    "percent": "a%2e%2e",
    "too long": "a/" * (MAX_KEY_LENGTH // 2) + "a",
    "segment too long": "a" * 256,
}


@pytest.mark.parametrize("key", BAD_KEYS.values(), ids=BAD_KEYS.keys())
async def test_a_key_outside_the_grammar_is_refused_everywhere(blobs: BlobStore, key: str) -> None:
    await blobs.put("good", b"x")
    for attempt in (
        blobs.put(key, b""),
        blobs.get(key),
        blobs.head(key),
        blobs.delete(key),
        collected(blobs.open(key)),
    ):
        with pytest.raises(InvalidBlobKey):
            await attempt
    for attempt in (blobs.move(key, "target"), blobs.move("good", key)):
        with pytest.raises(InvalidBlobKey):
            await attempt
    assert await keys(blobs) == ["good"]


async def test_the_longest_key_is_accepted(blobs: BlobStore) -> None:
    for key in ("k" * 255 + "/" + "m" * 255, "a/" * (MAX_KEY_LENGTH // 2 - 1) + "aa"):
        await blobs.put(key, b"x")
        assert await blobs.get(key) == b"x"
    assert len(await keys(blobs)) == 2


@pytest.mark.parametrize("prefix", ["..", "/", "a//", "/a", "a/../b", "a\0"])
async def test_a_prefix_outside_the_grammar_is_refused(blobs: BlobStore, prefix: str) -> None:
    with pytest.raises(InvalidBlobKey):
        await blobs.delete_prefix(prefix)
    with pytest.raises(InvalidBlobKey):
        await keys(blobs, prefix)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, None, b"0123456789"),
        (3, None, b"3456789"),
        (3, 5, b"34"),
        (8, 99, b"89"),
        (10, None, b""),
        (50, 60, b""),
        (4, 4, b""),
    ],
)
async def test_a_range_reads_from_start_up_to_end(blobs: BlobStore, start: int, end: int | None, expected: bytes) -> None:
    await blobs.put("digits", b"0123456789")
    assert await collected(blobs.open("digits", start, end)) == expected


async def test_a_range_may_cross_chunks(blobs: BlobStore) -> None:
    data = os.urandom(3 * MIB)
    await blobs.put("noise", data)
    assert await collected(blobs.open("noise", MIB - 1, 2 * MIB + 2)) == data[MIB - 1 : 2 * MIB + 2]


@pytest.mark.parametrize(("start", "end"), [(-1, None), (5, 4)])
async def test_an_impossible_range_is_refused(blobs: BlobStore, start: int, end: int | None) -> None:
    await blobs.put("digits", b"0123456789")
    with pytest.raises(ValueError, match="start <= end"):
        await collected(blobs.open("digits", start, end))


async def test_a_reader_keeps_its_value_while_the_blob_is_replaced_and_deleted(blobs: BlobStore) -> None:
    await blobs.put("a", b"1" * (3 * MIB))
    async with aclosing(blobs.open("a")) as stream:
        got = await anext(stream)
        await blobs.put("a", b"2" * (3 * MIB))
        await blobs.delete("a")
        got += await collected(stream)
    assert got == b"1" * (3 * MIB)


async def test_a_stream_that_breaks_leaves_the_old_value(blobs: BlobStore) -> None:
    async def breaking() -> AsyncIterator[bytes]:
        yield b"x" * (2 * MIB)
        raise ConnectionError("the client went away")

    await blobs.put("a", b"old")
    with pytest.raises(ConnectionError):
        await blobs.put("a", breaking())
    with pytest.raises(ConnectionError):
        await blobs.put("b/c", breaking())
    assert await keys(blobs) == ["a"]
    assert await blobs.get("a") == b"old"


async def test_half_a_blob_is_never_seen(blobs: BlobStore) -> None:
    async def peeking() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"x" * MIB
            assert await blobs.head("a") is None
            assert await keys(blobs) == []

    await blobs.put("a", peeking())
    assert (await blobs.get("a")) == b"x" * (3 * MIB)


async def test_concurrent_puts_to_one_key_leave_one_whole_value(blobs: BlobStore) -> None:
    values = [bytes([n]) * (MIB + n) for n in range(12)]
    await asyncio.gather(*(blobs.put("a/b", streamed(v[:1000], v[1000:])) for v in values))
    assert await blobs.get("a/b") in values
    assert await keys(blobs) == ["a/b"]


async def test_puts_and_deletes_in_one_folder_do_not_disturb_each_other(blobs: BlobStore) -> None:
    async def churn(name: str) -> None:
        for _ in range(15):
            await blobs.put(f"deep/er/folder/{name}", name.encode())
            assert await blobs.get(f"deep/er/folder/{name}") == name.encode()
            await blobs.delete(f"deep/er/folder/{name}")

    await asyncio.gather(*(churn(f"n{n}") for n in range(8)))
    assert await keys(blobs) == []


async def test_deleting_is_idempotent(blobs: BlobStore) -> None:
    await blobs.put("a/b/c", b"x")
    for _ in range(2):
        await blobs.delete("a/b/c")
    assert await blobs.head("a/b/c") is None
    await blobs.put("a", b"the folders are gone")


async def test_a_prefix_covers_a_folder_by_whole_segments(blobs: BlobStore) -> None:
    for key in ("jobs/1/out", "jobs/1/steps/2/out", "jobs/10/out", "jobs/1.json", "other"):
        await blobs.put(key, b"x")
    assert await keys(blobs, "jobs/1") == ["jobs/1/out", "jobs/1/steps/2/out"]
    assert await keys(blobs, "jobs/1/") == ["jobs/1/out", "jobs/1/steps/2/out"]
    assert await keys(blobs, "jobs/1/out") == []
    assert await keys(blobs, "nothing/here") == []
    assert len(await keys(blobs)) == 5
    assert await blobs.delete_prefix("jobs/1") == 2
    assert await blobs.delete_prefix("jobs/1") == 0
    assert await keys(blobs) == ["jobs/1.json", "jobs/10/out", "other"]


async def test_deleting_the_empty_prefix_is_refused(blobs: BlobStore) -> None:
    await blobs.put("a", b"x")
    with pytest.raises(InvalidBlobKey, match="every blob"):
        await blobs.delete_prefix("")
    assert await keys(blobs) == ["a"]


async def test_listing_goes_past_one_page_and_says_what_head_says(local: LocalBlobs) -> None:
    (local.root / "many").mkdir()
    for n in range(1203):
        (local.root / "many" / f"n{n}").write_bytes(b"x")
    found = {info.key: info async for info in local.list("many")}
    assert len(found) == 1203
    assert await local.head("many/n77") == found["many/n77"]


async def test_moving_promotes_an_attempts_output_and_replaces_the_target(blobs: BlobStore) -> None:
    await blobs.put("jobs/1/attempts/2/out", b"new")
    await blobs.put("jobs/1/out", b"old")
    await blobs.move("jobs/1/attempts/2/out", "jobs/1/out")
    assert await blobs.get("jobs/1/out") == b"new"
    assert await keys(blobs) == ["jobs/1/out"]


async def test_moving_a_blob_onto_itself_keeps_it(blobs: BlobStore) -> None:
    await blobs.put("a/b", b"x")
    await blobs.move("a/b", "a/b")
    assert await blobs.get("a/b") == b"x"


async def test_of_concurrent_moves_of_one_source_exactly_one_succeeds(local: LocalBlobs) -> None:
    await local.put("source/x", b"x")
    outcomes = await asyncio.gather(*(local.move("source/x", f"t/{n}/x") for n in range(8)), return_exceptions=True)
    assert [type(o) for o in outcomes if o is not None] == [BlobNotFound] * 7
    assert len(await keys(local)) == 1


async def test_a_hundred_megabytes_pass_through_in_bounded_memory(blobs: BlobStore) -> None:
    piece = b"m" * (256 * 1024)

    async def long() -> AsyncIterator[bytes]:
        for _ in range(400):
            yield piece

    tracemalloc.start()
    try:
        info = await blobs.put("long", long())
        size = 0
        async for chunk in blobs.open("long"):
            size += len(chunk)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert info.size == size == 400 * len(piece)
    assert peak < 40 * MIB  # a few parts of 8 MiB in a bucket


async def test_a_closed_store_refuses_and_may_be_closed_again(blobs: BlobStore) -> None:
    await blobs.aclose()
    await blobs.aclose()
    with pytest.raises(BlobStoreClosed, match="open it again"):
        await blobs.get("a")


async def test_blobs_outlive_the_store_object(root: Path) -> None:
    first = open_blobs(root.as_uri())
    await first.put("a/b", b"x")
    await first.aclose()
    second = open_blobs(root.as_uri())
    assert await second.get("a/b") == b"x"
    await second.aclose()


async def test_a_broken_or_cancelled_put_leaves_no_file_behind(local: LocalBlobs) -> None:
    writing = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * MIB
            writing.set()
            await asyncio.sleep(0)

    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * (2 * MIB)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await local.put("a/b", broken())
    task = asyncio.create_task(local.put("a/c", endless()))
    await writing.wait()
    assert len(files(local.root)) == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert files(local.root) == []


async def test_a_put_that_is_overtaken_by_closing_leaves_no_file_behind(local: LocalBlobs) -> None:
    async def closing() -> AsyncIterator[bytes]:
        yield b"x" * MIB
        await local.aclose()
        yield b"y" * MIB

    with pytest.raises(BlobStoreClosed):
        await local.put("a", closing())
    assert files(local.root) == []


KILLED = """
import asyncio, sys
from pathlib import Path
from towpath.blobs.local import LocalBlobs

async def stalling():
    yield b"x" * (2 * 1024 * 1024)
    print("written", flush=True)
    await asyncio.sleep(60)

asyncio.run(LocalBlobs(Path(sys.argv[1])).put("a/b", stalling()))
"""


async def test_what_a_killed_process_left_is_invisible_and_swept_once_it_is_old(local: LocalBlobs) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, str(local.root), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"written\n"
    [leftover] = files(local.root)
    long_ago = time.time() - 7200
    os.utime(local.root / leftover, (long_ago, long_ago))
    await LocalBlobs(local.root).aclose()
    assert files(local.root) == [leftover], "its writer still lives"

    process.send_signal(signal.SIGKILL)
    await process.wait()
    assert await keys(local) == []
    os.utime(local.root / leftover)
    await LocalBlobs(local.root).aclose()
    assert files(local.root) == [leftover], "it is not old enough"

    os.utime(local.root / leftover, (long_ago, long_ago))
    await LocalBlobs(local.root).aclose()
    assert files(local.root) == []


async def test_a_blob_is_synced_before_it_gets_its_name_and_every_folder_after(
    local: LocalBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    fsync, rename = os.fsync, os.rename

    def noting_fsync(descriptor: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def noting_rename(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        calls.append("rename")
        rename(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "fsync", noting_fsync)
    monkeypatch.setattr(os, "rename", noting_rename)
    await local.put("a/b/c", b"x")
    assert calls[:5] == ["file", "rename", "folder", "folder", "folder"]


async def test_a_put_makes_its_folder_again_if_a_delete_has_pruned_it_meanwhile(
    local: LocalBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = os.rename
    pruned = iter([True, True, False])

    def after_pruning(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        if next(pruned):
            (local.root / "a" / "b").rmdir()
            (local.root / "a").rmdir()
        rename(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", after_pruning)
        await local.put("a/b/c", b"x")
    assert await local.get("a/b/c") == b"x"


async def test_a_full_disk_is_unavailability_and_leaves_nothing(local: LocalBlobs, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("towpath.blobs.uploads.os.write", full)
        with pytest.raises(BlobStoreUnavailable, match=r"No space left on device.*free space"):
            await local.put("a", b"x")
    assert files(local.root) == []


async def test_a_root_that_has_vanished_is_unavailability_not_a_missing_blob(local: LocalBlobs) -> None:
    await local.put("a", b"x")
    local.root.rename(local.root.with_name("unmounted"))
    with pytest.raises(BlobStoreUnavailable, match="mounted"):
        await local.get("a")
    with pytest.raises(BlobStoreUnavailable, match="mounted"):
        await local.put("a", b"y")


async def test_files_and_folders_are_private_to_their_owner(local: LocalBlobs) -> None:
    await local.put("a/b", b"x")
    modes = {p.relative_to(local.root).as_posix(): stat.S_IMODE(p.stat().st_mode) for p in local.root.rglob("*")}
    assert modes == {".tmp": 0o700, "a": 0o700, "a/b": 0o600}
    assert stat.S_IMODE(local.root.stat().st_mode) == 0o700


async def test_a_symbolic_link_leads_nobody_out_of_the_root(local: LocalBlobs, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    (local.root / "folder").symlink_to(outside)
    (local.root / "file").symlink_to(outside / "secret")
    await local.put("own/x", b"x")

    for attempt in (
        local.get("folder/secret"),
        local.get("file"),
        local.head("file"),
        local.put("folder/new", b"x"),
        local.move("own/x", "folder/secret"),
        local.move("folder/secret", "own/y"),
        local.delete("folder/secret"),
        collected(local.open("file")),
    ):
        with pytest.raises(BlobError, match="symbolic link"):
            await attempt
    assert await keys(local) == ["own/x"]
    await local.put("file", b"replaces the link itself")
    await local.delete("folder")
    assert [(p.name, p.read_bytes()) for p in outside.iterdir()] == [("secret", b"secret")]


async def test_deleting_a_folder_does_not_follow_links_in_it(local: LocalBlobs, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    await local.put("jobs/1/out", b"x")
    (local.root / "jobs/1/link").symlink_to(outside)
    await local.delete_prefix("jobs/1")
    assert (outside / "secret").read_bytes() == b"secret"


async def test_a_key_cannot_be_a_folder_and_a_blob_at_once(local: LocalBlobs) -> None:
    await local.put("a/b", b"x")
    with pytest.raises(InvalidBlobKey, match="already a folder"):
        await local.put("a", b"y")
    with pytest.raises(InvalidBlobKey, match="itself a blob"):
        await local.put("a/b/c", b"y")
    assert files(local.root) == ["a/b"]


async def test_deleted_and_moved_blobs_leave_no_empty_folders(local: LocalBlobs) -> None:
    for key in ("a/b/c", "a/d/e", "f/g/h", "f/g/i/j"):
        await local.put(key, b"x")
    await local.delete("a/b/c")
    await local.move("a/d/e", "e")
    await local.delete_prefix("f/g")
    assert sorted(p.name for p in local.root.iterdir()) == [".tmp", "e"]


async def test_reading_a_part_of_a_stream_leaves_no_open_file(local: LocalBlobs) -> None:
    await local.put("a", b"x" * (3 * MIB))
    before = len(os.listdir("/dev/fd"))
    async with aclosing(local.open("a")) as stream:
        await anext(stream)
        assert len(os.listdir("/dev/fd")) == before + 1
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize(
    "url", ["s3://key:hunter2@bucket", "/just/a/path", "", "file://relative/path", "file:///", "file:x"]
)
def test_a_url_that_names_no_store_is_refused_with_the_schemes_there_are(url: str) -> None:
    with pytest.raises(InvalidBlobUrl, match="file:///absolute/directory") as caught:
        open_blobs(url)
    assert "hunter2" not in str(caught.value)


async def test_a_file_url_may_hold_escaped_characters(tmp_path: Path) -> None:
    store = open_blobs((tmp_path / "with space").as_uri())
    await store.put("a", b"x")
    assert (tmp_path / "with space" / "a").read_bytes() == b"x"
    await store.aclose()


def test_a_root_that_cannot_be_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BlobStoreUnavailable):
        LocalBlobs(tmp_path / "file")
    with pytest.raises(BlobStoreUnavailable):
        LocalBlobs(tmp_path / "file" / "below")


@pytest.mark.parametrize("size", [3 * 1024 * 1024, 3 * 1024 * 1024 + 17])
async def test_zeros_take_no_room_on_the_disk_and_come_back_as_zeros(local: LocalBlobs, size: int) -> None:
    data = b"begin" + bytes(size) + b"middle" + bytes(size)
    info = await local.put("holes", data)
    assert info.size == len(data)
    assert await local.get("holes") == data
    assert (local.root / "holes").stat().st_blocks * 512 < size // 2
