"""What the contract leaves to buckets: parts, addresses, signed URLs, and what their refusals are told as."""

import asyncio
import os
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import aclosing

import boto3
import pytest

from tests.services.weed import BUCKET, WeedServer
from towpath.blobs import BlobNotFound, BlobStore, BlobStoreUnavailable, InvalidBlobUrl, bucket_of
from towpath.core.errors import ConfigurationError
from towpath.wiring import open_blobs

MIB = 1024 * 1024


@pytest.fixture
async def blobs(s3_url: str) -> AsyncIterator[BlobStore]:
    store = open_blobs(s3_url)
    yield store
    await store.aclose()


async def pieces(size: int, of: bytes = b"x") -> AsyncIterator[bytes]:
    for _ in range(size // MIB):
        yield of * MIB


def asked(url: str, method: str = "GET", data: bytes | None = None) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, data, method=method), timeout=30) as answer:
        return bytes(answer.read())


async def test_the_reader_of_a_large_value_that_is_replaced_is_told_and_gets_no_mixture(blobs: BlobStore) -> None:
    await blobs.put("a", pieces(20 * MIB, b"1"))
    async with aclosing(blobs.open("a")) as stream:
        assert set(await anext(stream)) == {ord("1")}
        await blobs.put("a", pieces(20 * MIB, b"2"))
        with pytest.raises(BlobStoreUnavailable, match="'a' was replaced while it was read; read it again"):
            await anext(stream)


async def test_a_large_value_is_read_in_parts_from_anywhere(blobs: BlobStore) -> None:
    whole = b"".join(bytes([n]) * MIB for n in range(11))
    await blobs.put("a", whole)
    for start, end in ((0, None), (1, 5 * MIB), (4 * MIB, 8 * MIB), (9 * MIB + 3, 99 * MIB), (11 * MIB, None)):
        got = b"".join([piece async for piece in blobs.open("a", start, end)])
        assert got == whole[start:end]


@pytest.mark.parametrize(("start", "end"), [(0, None), (0, 0), (5, 9)])
async def test_any_range_of_what_is_not_there_is_missing(blobs: BlobStore, start: int, end: int | None) -> None:
    with pytest.raises(BlobNotFound):
        await anext(blobs.open("nothing", start, end))


async def test_an_upload_that_breaks_off_leaves_no_parts_in_the_bucket(blobs: BlobStore, s3_server: WeedServer) -> None:
    async def breaking() -> AsyncIterator[bytes]:
        async for piece in pieces(30 * MIB):
            yield piece
        raise ConnectionError("the client went away")

    client = boto3.Session().client("s3", endpoint_url=s3_server.endpoint)  # the one that it shares keeps the first keys
    before = client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])
    with pytest.raises(ConnectionError, match="the client went away"):
        await blobs.put("a", breaking())
    assert await blobs.head("a") is None
    assert client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []) == before


async def test_a_cancelled_upload_is_not_to_be_seen(blobs: BlobStore) -> None:
    begun = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        async for piece in pieces(30 * MIB):
            yield piece
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(blobs.put("b", endless()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [info async for info in blobs.list()] == []


async def test_a_folder_of_many_pages_is_listed_and_deleted(blobs: BlobStore) -> None:
    await asyncio.gather(*(blobs.put(f"many/{n}/x", b"x") for n in range(1203)))
    await blobs.put("other", b"x")
    assert len([info async for info in blobs.list("many")]) == 1203
    assert await blobs.delete_prefixes([f"many/{n}" for n in range(100)]) == 100
    assert await blobs.delete_prefix("many") == 1103
    assert [info.key async for info in blobs.list()] == ["other"]


async def test_an_address_and_a_signed_url_lead_others_to_one_blob(blobs: BlobStore, s3_url: str) -> None:
    assert blobs.uri("folder/a.wav") == f"{s3_url}/folder/a.wav"
    sent = await blobs.sign("folder/a.wav", method="PUT", seconds=60)
    assert sent is not None
    await asyncio.to_thread(asked, sent, "PUT", b"sound")
    got = await blobs.sign("folder/a.wav", seconds=60)
    assert got is not None
    assert await asyncio.to_thread(asked, got) == b"sound" == await blobs.get("folder/a.wav")
    for wrong in (got.replace("a.wav", "b.wav"), got[:-4] + "0000"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            await asyncio.to_thread(asked, wrong)
        assert refused.value.code == 403
        refused.value.close()


async def test_wrong_credentials_are_told_without_showing_them(s3_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    store = open_blobs(s3_url)
    with pytest.raises(BlobStoreUnavailable, match=r"refuses these credentials \(SignatureDoesNotMatch\); check") as caught:
        await store.put("a", b"x")
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_a_bucket_that_is_not_there_is_told(s3_url: str) -> None:
    with pytest.raises(BlobStoreUnavailable, match="s3://no-such-bucket: there is no such bucket; make it, or correct"):
        await open_blobs("s3://no-such-bucket").get("a")


async def test_an_endpoint_that_nobody_answers_at_is_told(s3_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(BlobStoreUnavailable, match="cannot be reached; check its endpoint"):
        await open_blobs(s3_url).get("a")
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    with pytest.raises(BlobStoreUnavailable, match="AWS_ALLOW_HTTP=true"):
        await open_blobs(s3_url).get("a")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("s3://bucket", ("s3", "bucket", "")),
        ("gs://my-bucket/a/b/", ("gs", "my-bucket", "a/b")),
        ("az://container/jobs.v2", ("az", "container", "jobs.v2")),
        ("file:///tmp", None),
    ],
)
def test_a_url_names_scheme_bucket_and_prefix(url: str, place: tuple[str, str, str] | None) -> None:
    assert bucket_of(url) == place


@pytest.mark.parametrize("url", ["s3://", "gs:///x", "az://a//b", "s3://a/../b", "s3://k:hunter2@b", "gs://b?token=hunter2"])
def test_a_url_that_is_no_place_in_a_bucket_is_refused(url: str) -> None:
    with pytest.raises(InvalidBlobUrl, match="bucket/prefix") as caught:
        open_blobs(url)
    assert "hunter2" not in str(caught.value)


@pytest.fixture
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))]:
        monkeypatch.delenv(name)


def test_what_cannot_be_opened_says_which_variables_to_look_at(no_variables: None) -> None:
    with pytest.raises(ConfigurationError, match=r"az://container cannot be opened .*AZURE_STORAGE_ACCOUNT_NAME"):
        open_blobs("az://container")


async def test_the_library_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(ConfigurationError, match=r"s3:// needs a library; pip install 'towpath\[buckets\]'"):
        open_blobs("s3://bucket")
