"""Inputs in an object store, through its own library and over HTTP."""

import pytest

from towpath import Fatal, SchemaInvalid
from towpath.config import Settings
from towpath.outbound.sources import open_source

TEXT = b'{"custom_id": "a"}\n' * 200_000
SETTINGS = Settings(input_buckets="s3://lists/in")


@pytest.fixture
def bucket(monkeypatch):
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "hush",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        client = boto3.Session().client("s3")
        client.create_bucket(Bucket="lists")
        client.put_object(Bucket="lists", Key="in/my list.jsonl", Body=TEXT)
        client.close()
        yield
    finally:
        server.stop()


async def read(uri, settings=SETTINGS, **options):
    async with open_source(settings, uri, **options) as source:
        return source, b"".join([piece async for piece in source])


async def test_an_object_comes_in_pieces_with_its_name_and_size(bucket):
    source, found = await read("s3://lists/in/my list.jsonl")
    assert (source.name, source.size, found == TEXT) == ("my list.jsonl", len(TEXT), True)


async def test_what_is_not_there_or_too_large_is_said_in_words(bucket):
    with pytest.raises(SchemaInvalid, match="there is nothing at this address"):
        await read("s3://lists/in/other")
    with pytest.raises(SchemaInvalid, match="larger than the 10 bytes"):
        await read("s3://lists/in/my list.jsonl", limit=10)


async def test_without_the_library_it_says_which_one_is_missing(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(Fatal, match="needs obstore"):
        await read("s3://lists/in/other")
