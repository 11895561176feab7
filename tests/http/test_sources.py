"""Inputs by address: read as they come, on from where they broke off, and only from where they may be read."""

import asyncio
import contextlib
import ssl

import pytest

from tests.http.certificates import make_certificate
from tests.http.serving import answering
from towpath import RateLimited, SchemaInvalid, Transient
from towpath.config import Settings
from towpath.outbound import reading
from towpath.outbound.client import ForbiddenAddress, Outbound, UnsafeUrl
from towpath.outbound.sources import check_source, name_of, open_source, shown

TEXT = bytes(range(256)) * 40
TRUSTING = Settings(allow_private_urls=True)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(reading, "_PAUSE", 0.0)


async def read(settings, uri, **options):
    async with open_source(settings, uri, **options) as source:
        return b"".join([piece async for piece in source])


def answer(body=b"", status="200 OK", **headers):
    told = {"content-length": len(body)} | {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def going_to(names):
    async def resolve(host, _port):
        return [names[host]]

    return resolve


class Breaking:
    """Sends `at_a_time` bytes of what it is asked for, then hangs up; remembers what it was asked for."""

    def __init__(self, at_a_time, *, ranges=True, tags=('"one"',)):
        self.at_a_time, self.ranges, self.tags, self.asked = at_a_time, ranges, list(tags), []

    def __call__(self, head):
        lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:] if line)
        asked = {name.lower(): value for name, value in lines.items()}
        self.asked.append(asked.get("range"))
        tag = self.tags[min(len(self.asked), len(self.tags)) - 1]
        start = int(asked["range"][6:-1]) if self.ranges and asked.get("if-range") == tag else 0
        told = {"etag": tag, "accept_ranges": "bytes" if self.ranges else "none", "content_length": len(TEXT) - start}
        if start:
            told["content_range"] = f"bytes {start}-{len(TEXT) - 1}/{len(TEXT)}"
        body = TEXT[start : start + self.at_a_time]
        return answer(body, "206 Partial Content" if start else "200 OK", **told)


async def test_what_is_at_an_address_comes_in_pieces_with_its_name_and_size():
    async with (
        answering(lambda _: answer(TEXT)) as port,
        open_source(TRUSTING, f"http://127.0.0.1:{port}/in/my%20list.jsonl?sig=secret") as source,
    ):
        assert (source.name, source.size) == ("my list.jsonl", len(TEXT))
        assert b"".join([piece async for piece in source]) == TEXT


async def test_tls_goes_by_the_name_and_the_connection_to_the_address_that_was_checked(tmp_path):
    certificate = make_certificate(tmp_path, "files.example")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    trust = ssl.create_default_context(cafile=certificate)
    async with answering(lambda _: answer(TEXT), tls=tls) as port:
        asked = Outbound(permitted=lambda _: True, resolve=going_to({"files.example": "127.0.0.1"}), trust=trust)
        assert await read(Settings(), f"https://files.example:{port}/a", outbound=asked) == TEXT


@pytest.mark.parametrize("tag", ['"one"', '"two words"'])
async def test_a_broken_connection_is_taken_up_where_it_ended(tag):
    server = Breaking(4000, tags=[tag])
    async with answering(server) as port:
        assert await read(TRUSTING, f"http://127.0.0.1:{port}/a") == TEXT
    assert server.asked == [None, "bytes=4000-", "bytes=8000-"]


@pytest.mark.parametrize(
    "server",
    [
        Breaking(4000, ranges=False),
        Breaking(4000, tags=['W/"weak"']),
        Breaking(4000, tags=['"one"', '"another"']),
    ],
    ids=["no ranges", "a weak tag", "changed meanwhile"],
)
async def test_what_may_be_something_else_by_now_is_not_stitched_together(server):
    async with answering(server) as port:
        with pytest.raises(Transient, match=r"broke off|changed"):
            await read(TRUSTING, f"http://127.0.0.1:{port}/a")


async def test_a_connection_that_never_gets_on_is_given_up():
    server = Breaking(0)
    async with answering(server) as port:
        with pytest.raises(Transient, match="again and again after 0 bytes"):
            await read(TRUSTING, f"http://127.0.0.1:{port}/a")


@pytest.mark.parametrize(
    ("status", "category"),
    [
        ("404 Not Found", SchemaInvalid), ("410 Gone", SchemaInvalid), ("403 Forbidden", SchemaInvalid),
        ("401 Unauthorized", SchemaInvalid), ("400 Bad Request", SchemaInvalid), ("204 No Content", SchemaInvalid),
        ("429 Too Many Requests", RateLimited), ("500 Oh", Transient), ("503 Later", Transient), ("408 Slow", Transient),
    ],
)  # fmt: skip
async def test_a_refusal_is_one_of_our_categories_and_tells_no_secret(status, category):
    async with answering(lambda _: answer(b"your signature=hush is bad", status, retry_after="7")) as port:
        with pytest.raises(category) as caught:
            await read(TRUSTING, f"http://127.0.0.1:{port}/a?signature=hush")
    assert "hush" not in f"{caught.value} {caught.value.remedy}"
    if category is RateLimited:
        assert caught.value.retry_after == 7


async def test_nobody_there_is_transient_and_tells_no_secret():
    async with answering(lambda _: b"") as port:
        pass
    with pytest.raises(Transient) as caught:
        await read(TRUSTING, f"http://127.0.0.1:{port}/a?signature=hush")
    assert "hush" not in str(caught.value)


async def test_a_server_that_says_nothing_is_transient():
    outbound, ended = Outbound(allow_private=True, timeout=0.2), asyncio.Event()

    async def silence(reader, writer):
        await reader.read()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        ended.set()

    server = await asyncio.start_server(silence, "127.0.0.1", 0)
    async with server:
        with pytest.raises(Transient, match="did not answer within"):
            await read(TRUSTING, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/a", outbound=outbound)
        await ended.wait()


async def test_too_much_is_refused_before_it_is_read_and_also_if_nobody_said_how_much():
    async with answering(lambda _: answer(TEXT)) as port:
        with pytest.raises(SchemaInvalid, match="larger than the 100 bytes"):
            async with open_source(TRUSTING, f"http://127.0.0.1:{port}/a", limit=100):
                raise AssertionError("it was opened")
    unsaid = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + TEXT
    async with answering(lambda _: unsaid) as port:
        with pytest.raises(SchemaInvalid, match="larger than the 5,000 bytes"):
            await read(TRUSTING, f"http://127.0.0.1:{port}/a", limit=5000)


async def test_what_is_sent_packed_is_refused():
    async with answering(lambda _: answer(b"\x1f\x8b", content_encoding="gzip")) as port:
        with pytest.raises(SchemaInvalid, match="packed as gzip"):
            await read(TRUSTING, f"http://127.0.0.1:{port}/a")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "10.1.2.3"])
async def test_this_machine_and_its_network_are_not_read(host):
    with pytest.raises((ForbiddenAddress, Transient)):
        await read(Settings(), f"https://{host}/latest/meta-data")


async def test_a_redirect_into_the_network_is_refused_and_one_elsewhere_followed():
    names = {"files.example": "127.0.0.1", "inner.example": "127.0.0.2"}
    asked = Outbound(permitted=lambda address: str(address) == "127.0.0.1", resolve=going_to(names))
    async with answering(lambda _: answer(TEXT)) as port:
        for host in ("files.example", "inner.example"):
            to = f"http://{host}:{port}/b"
            async with answering(lambda _, to=to: answer(status="302 Found", location=to)) as first:
                uri = f"http://files.example:{first}/a"
                if host == "files.example":
                    assert await read(TRUSTING, uri, outbound=asked) == TEXT
                else:
                    with pytest.raises(ForbiddenAddress, match=r"inner\.example"):
                        await read(TRUSTING, uri, outbound=asked)


async def test_redirects_end_somewhere_and_lead_to_nothing_else_than_the_web():
    async with answering(lambda _: answer(status="302 Found", location="/again")) as port:
        with pytest.raises(SchemaInvalid, match="more than 5 times"):
            await read(TRUSTING, f"http://127.0.0.1:{port}/a")
    async with answering(lambda _: answer(status="302 Found", location="file:///etc/passwd")) as port:
        with pytest.raises(UnsafeUrl):
            await read(TRUSTING, f"http://127.0.0.1:{port}/a")


@pytest.mark.parametrize(
    "uri",
    [
        "http://files.example/a", "ftp://files.example/a", "file:///etc/passwd", "https://", "https://me:pass@files.example/a",
        "/etc/passwd", "s3://bucket/a", "gs://bucket/a", "az://container/a", "s3://", "s3://bucket", "data://x",
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_read_is_refused_when_it_is_given(uri):
    with pytest.raises(SchemaInvalid):
        check_source(Settings(), uri)


@pytest.mark.parametrize(
    ("allowed", "tenant", "uri", "fits"),
    [
        ("s3://open", None, "s3://open/a", True),
        ("s3://open/", None, "s3://open/deep/down.jsonl", True),
        ("s3://open", None, "s3://opener/a", False),
        ("s3://open/in", None, "s3://open/in/a", True),
        ("s3://open/in", None, "s3://open/inner/a", False),
        ("s3://open/in", None, "s3://open/in/../a", False),
        ("s3://open/in", None, "s3://open/in//a", False),
        ("gs://other, s3://open", None, "s3://open/a", True),
        ("gs://open", None, "s3://open/a", False),
        ("s3://open/{tenant}", "alice", "s3://open/alice/a", True),
        ("s3://open/{tenant}", "alice", "s3://open/bob/a", False),
        ("s3://open/{tenant}", "alice/..", "s3://open/alice/a", False),
        ("s3://open/{tenant}", None, "s3://open/a", False),
        ("", "alice", "s3://open/a", False),
    ],
)
def test_buckets_are_read_only_where_the_settings_say(allowed, tenant, uri, fits):
    settings = Settings(input_buckets=allowed)
    if fits:
        check_source(settings, uri, tenant=tenant)
    else:
        with pytest.raises(SchemaInvalid):
            check_source(settings, uri, tenant=tenant)


def test_who_names_a_bucket_in_vain_hears_what_to_do():
    with pytest.raises(SchemaInvalid, match="s3://secret") as caught:
        check_source(Settings(), "s3://secret/a")
    assert "TOWPATH_INPUT_BUCKETS" in (caught.value.remedy or "")


def test_an_address_is_shown_without_its_query():
    assert shown("https://a.example/b?sig=hush#part") == "https://a.example/b"
    assert name_of("https://a.example/") == "input"
