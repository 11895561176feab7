"""Connections that say nothing do not stay, over real sockets; the ones that are used do."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from tests.http.serving import served
from towpath import Settings
from towpath.server.connections import Bounds, bounds_from, protocol_within

PATIENCE = 60.0
SOON = 0.05
NEVER = 0.0


async def app(scope, receive, send):
    """Answers with the length of the body; at /stream with a line for each piece of it; at /early before it has come."""
    length, more = 0, scope["path"] != "/early"
    streams = scope["path"] == "/stream"
    if streams:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"transfer-encoding", b"chunked")]})
        await send({"type": "http.response.body", "body": b"begun\n", "more_body": True})
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        length, more = length + len(message.get("body", b"")), message.get("more_body", False)
    if streams:
        await asyncio.sleep(SOON)  # so that it is looked at while it answers
    else:
        await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"%d" % length})


@asynccontextmanager
async def connected(bounds):
    """Makes connections to a server with these bounds."""
    writers, made = [], []

    class Seen(protocol_within(bounds)):
        def connection_made(self, transport):
            made.append(self)
            super().connection_made(transport)

    async with served(app, http=Seen) as port:

        async def connect(sent=b""):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writers.append(writer)
            writer.write(sent)
            return reader, writer

        connect.made = made
        try:
            async with asyncio.timeout(PATIENCE):
                yield connect
        finally:
            for writer in writers:
                writer.close()


async def deadline(protocol, but=None):
    """What the server's side of a connection waits for, and until when, as soon as it is not `but`: it sets no event."""
    while (found := (protocol._awaited, protocol._deadline and protocol._deadline.when())) == but:  # noqa: ASYNC110  (same)
        await asyncio.sleep(0.001)
    return found


HEAD = b"POST /%s HTTP/1.1\r\nhost: x\r\n"


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: x\r\n"])
async def test_who_does_not_send_a_head_is_cut_off(sent):
    async with connected(Bounds(header_seconds=SOON, body_idle_seconds=NEVER)) as connect:
        reader, _ = await connect(sent)
        assert b"408" in await reader.read()


async def test_a_head_that_comes_in_drops_does_not_get_more_time():
    async with connected(Bounds(header_seconds=PATIENCE, body_idle_seconds=NEVER)) as connect:
        reader, writer = await connect(b"GET / HTTP/1.1\r\n")
        await came(connect, 1)
        [protocol] = connect.made
        before = await deadline(protocol)
        for _ in range(4):
            writer.write(b"x-more: 1\r\n")
            await came(connect, protocol._came + 1)
            assert await deadline(protocol) == before
        assert before[0] == "the head"
        protocol._missed()  # the moment it waits for
        assert b"408" in await reader.read()


async def came(connect, least):
    """Until the server has so many bytes: it sets no event for that."""
    while not (connect.made and connect.made[0]._came >= least):  # noqa: ASYNC110  (same)
        await asyncio.sleep(0.001)


async def test_half_a_head_after_a_good_request_is_cut_off_too():
    async with connected(Bounds(header_seconds=PATIENCE, body_idle_seconds=NEVER)) as connect:
        reader, writer = await connect(b"GET /early HTTP/1.1\r\nhost: x\r\n\r\n")
        assert b"200" in await reader.readuntil(b"\r\n\r\n")
        [protocol] = connect.made
        between = await deadline(protocol)
        writer.write(b"GET /early HT")
        awaited, until = await deadline(protocol, but=between)
        assert (between, awaited, until is None) == (("", None), "the head", False)
        protocol._missed()  # the moment it waits for
        assert b"408" in await reader.read()


@pytest.mark.parametrize("head", [b"content-length: 100\r\n\r\n12345", b"transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n"])
async def test_half_a_body_is_cut_off(head):
    async with connected(Bounds(header_seconds=NEVER, body_idle_seconds=SOON)) as connect:
        reader, _ = await connect(HEAD % b"" + head)
        assert b"408" in await reader.read()


async def test_a_body_that_makes_progress_takes_as_long_as_it_likes():
    """Each piece sets a new deadline."""
    async with connected(Bounds(header_seconds=PATIENCE, body_idle_seconds=PATIENCE)) as connect:
        reader, writer = await connect(HEAD % b"" + b"content-length: 5120\r\n\r\n")
        while not (connect.made and connect.made[0]._awaited == "the body"):  # noqa: ASYNC110  (it sets no event)
            await asyncio.sleep(0.001)
        [protocol] = connect.made
        before = await deadline(protocol)
        for _ in range(4):
            writer.write(b"x" * 1024)
            before = await deadline(protocol, but=before)
        writer.write(b"x" * 1024)
        assert (await reader.readuntil(b"5120")).startswith(b"HTTP/1.1 200")


async def test_an_answer_takes_as_long_as_it_likes():
    async with connected(Bounds(header_seconds=PATIENCE, body_idle_seconds=PATIENCE)) as connect:
        reader, _ = await connect(b"GET /stream HTTP/1.1\r\nhost: x\r\n\r\n")
        assert b"begun" in await reader.readuntil(b"begun")
        assert await deadline(connect.made[0]) == ("", None)
        assert b"1\r\n0" in await reader.readuntil(b"0\r\n\r\n")


async def test_the_rest_of_a_body_is_not_awaited_for_ever_after_its_answer(monkeypatch):
    monkeypatch.setattr("towpath.server.connections._LINGER_SECONDS", SOON)
    async with connected(Bounds(header_seconds=NEVER, body_idle_seconds=NEVER)) as connect:
        reader, _ = await connect(HEAD % b"early" + b"content-length: 100\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 200")


async def test_one_connection_too_many_is_told_so_and_there_is_room_again_when_one_ends():
    bounds = Bounds(header_seconds=NEVER, most=2)
    async with connected(bounds) as connect:
        first = await connect()
        await answers(connect)
        second = await connect()
        while bounds.open < 2:  # noqa: ASYNC110  (the server's side of a connection sets no event)
            await asyncio.sleep(0.001)
        reader, _ = await connect()
        assert b"503" in await reader.read()
        for _, writer in (first, second):
            writer.close()
        while bounds.open:  # noqa: ASYNC110  (same)
            await asyncio.sleep(0.001)
        await answers(connect)


async def answers(connect):
    reader, writer = await connect(b"GET /early HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    assert b"200" in await reader.read()
    writer.close()


async def test_one_address_does_not_take_all_connections():
    bounds = Bounds(header_seconds=NEVER, most_per_address=1, exempt=lambda _address: False)
    async with connected(bounds) as connect:
        await connect()
        reader, _ = await connect()
        assert b"from this address" in await reader.read()


def test_proxies_and_this_machine_are_not_counted_by_address():
    bounds = bounds_from(Settings(max_connections_per_address=1, trusted_proxies="10.0.0.0/8"))
    for address in ("127.0.0.1", "::1", "10.1.2.3"):
        assert bounds.enter(address) is None
        assert bounds.enter(address) is None
    assert bounds.enter("203.0.113.7") is None
    assert "1 connections" in bounds.enter("203.0.113.7")
    bounds.leave("203.0.113.7")
    bounds.leave("203.0.113.7")
    assert "203.0.113.7" not in bounds.by_address
