"""Objects come whole and as they were described, or they do not count; what has come of one is not fetched twice."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.products.fleet.pier import Pier, md5, opened_pier, sha256
from towpath.fleet.node.objects import Described, ObjectFailed, Objects

DATA = bytes(range(256)) * 40
OTHER = DATA[::-1]
HALF = len(DATA) // 2


@pytest.fixture
async def pier() -> AsyncIterator[Pier]:
    async with opened_pier(DATA) as pier:
        yield pier


async def fetched(pier: Pier, folder: Path, wanted: Described) -> bytes:
    target = folder / "object"
    async with httpx.AsyncClient() as client:
        await Objects(client, pause=lambda tried: 0.0).download(lambda: pier.url, target, wanted)
    return target.read_bytes()


@pytest.mark.parametrize("wanted", [Described(len(DATA), "one"), Described(len(DATA)), Described()])
async def test_what_breaks_off_is_taken_up_where_it_ended(pier: Pier, tmp_path: Path, wanted: Described) -> None:
    pier.cuts = [HALF, 100]
    assert await fetched(pier, tmp_path, wanted) == DATA
    assert [one.get("range") for one in pier.asked] == [None, f"bytes={HALF}-", f"bytes={HALF + 100}-"]
    assert {one.get("if-match") for one in pier.asked[1:]} == {'"one"'}


async def test_where_nothing_tells_one_content_from_another_it_is_fetched_from_its_beginning(
    pier: Pier, tmp_path: Path
) -> None:
    pier.cuts, pier.etag = [HALF], ""
    assert await fetched(pier, tmp_path, Described(len(DATA))) == DATA
    assert [one.get("range") for one in pier.asked] == [None, None]


async def test_a_server_without_ranges_sends_it_all_again(pier: Pier, tmp_path: Path) -> None:
    pier.cuts, pier.ranges = [HALF], False
    assert await fetched(pier, tmp_path, Described(len(DATA), "one")) == DATA
    assert len(pier.asked) == 2


@pytest.mark.parametrize("matches", [True, False], ids=["a server that looks at If-Match", "one that does not"])
async def test_an_object_that_was_replaced_meanwhile_is_not_put_together_of_two(
    pier: Pier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matches: bool
) -> None:
    """Nobody knew its ETag beforehand, so the new one is as good; it has the same size."""
    pier.cuts, pier.matches = [HALF], matches
    answer = pier._answer

    def replaced(headers: dict[str, str]) -> bytes:
        told = answer(headers)
        pier.put(OTHER, "two")
        return told

    monkeypatch.setattr(pier, "_answer", replaced)
    assert await fetched(pier, tmp_path, Described(len(DATA))) == OTHER


@pytest.mark.parametrize("matches", [True, False], ids=["a server that looks at If-Match", "one that does not"])
async def test_another_content_than_the_one_that_the_task_is_about_is_no_input(
    pier: Pier, tmp_path: Path, matches: bool
) -> None:
    pier.put(OTHER, "two")
    pier.matches = matches
    with pytest.raises(ObjectFailed, match="has changed since the task was made") as caught:
        await fetched(pier, tmp_path, Described(len(DATA), "one"))
    assert caught.value.failure.category == "schema_invalid"
    assert not (tmp_path / "object").exists()


async def test_another_part_than_the_one_that_was_asked_for_is_not_put_behind_the_first(pier: Pier, tmp_path: Path) -> None:
    pier.cuts, pier.shift = [HALF], -7
    assert await fetched(pier, tmp_path, Described(etag="one")) == DATA


@pytest.mark.parametrize(
    ("wanted", "amazons"),
    [
        (Described(len(DATA), "one", sha256(OTHER)), False),
        (Described(len(DATA), md5(OTHER)), True),
        (Described(len(DATA) + 1, "one"), False),
        (Described(len(DATA) - 1, "one"), False),
    ],
    ids=["checksum", "checksum of S3", "too short", "too long"],
)
async def test_what_is_not_as_described_is_fetched_again_and_then_given_up(
    pier: Pier, tmp_path: Path, wanted: Described, amazons: bool
) -> None:
    pier.amazons, pier.etag = amazons, wanted.etag
    with pytest.raises(ObjectFailed) as caught:
        await fetched(pier, tmp_path, wanted)
    assert (caught.value.failure.error_class, caught.value.failure.kind) == ("DownloadFailed", "network")
    assert len(pier.asked) > 1


async def test_a_checksum_that_is_right_is_no_reason_to_fetch_it_again(pier: Pier, tmp_path: Path) -> None:
    pier.amazons, pier.etag = True, md5(DATA)
    assert await fetched(pier, tmp_path, Described(len(DATA), md5(DATA), sha256(DATA))) == DATA
    assert len(pier.asked) == 1


async def test_bytes_that_were_garbled_on_their_way_are_fetched_anew(
    pier: Pier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = pier._answer

    def garbled(headers: dict[str, str]) -> bytes:
        told = answer(headers)
        return told[:-1] + b"?" if len(pier.asked) == 1 else told

    monkeypatch.setattr(pier, "_answer", garbled)
    assert await fetched(pier, tmp_path, Described(len(DATA), "one", sha256(DATA))) == DATA
    assert len(pier.asked) == 2


async def test_an_object_that_was_put_as_compressed_comes_as_it_is_stored(pier: Pier, tmp_path: Path) -> None:
    packed = gzip.compress(DATA)
    pier.put(packed, "one")
    pier.encoding = "gzip"
    assert await fetched(pier, tmp_path, Described(len(packed), "one", sha256(packed))) == packed


async def test_a_connection_that_breaks_after_the_last_byte_leaves_nothing_to_fetch(pier: Pier, tmp_path: Path) -> None:
    """Its end was not told, but all of it is here."""
    pier.cuts = [len(DATA)]
    assert await fetched(pier, tmp_path, Described(len(DATA), "one")) == DATA
