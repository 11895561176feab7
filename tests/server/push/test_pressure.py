"""Over real connections: a burst that everybody gets, and a client that stops reading."""

import asyncio
import socket

import pytest

from tests.contracts.stores import until
from tests.engine.working import on_sqlite
from tests.server.push.listening import Listener
from tests.server.push.serving import PATIENCE
from towpath.push import Limits

BURST = 10_000


async def test_a_burst_of_ten_thousand_jobs_reaches_everybody_over_one_connection(app, listen):
    listeners = [await listen("anna"), await listen("anna", admin=True), await listen("bert")]
    jobs = await app.enqueue_many([{"operation": "work", "payload": 0, "tenant": "anna"} for _ in range(BURST)])
    for listener in listeners[:2]:
        await listener.until(lambda heard: len(heard.heard) >= BURST)
        assert sorted(listener.events) == sorted((job.id, 1) for job in jobs)
        assert listener.connections == 1
    assert listeners[2].heard == []


@on_sqlite
class TestAClientThatStopsReading:
    @pytest.fixture
    def limits(self):
        return Limits(mailbox=20_000, patience=0.01, heartbeat=0.1, farewell=0.2, interval=0.0)

    async def test_it_is_let_go_and_finds_everything_when_it_returns(self, app, api, address, token_for):
        anna = Listener(address, await token_for("anna"))
        reader, writer = await self._open(address, anna.token)
        jobs, hub = [], api.state.towpath_hub
        async with asyncio.timeout(PATIENCE):
            while hub.listeners:  # the network itself holds some: it takes more than the mailbox does
                jobs += await app.enqueue_many([{"operation": "work", "payload": 0, "tenant": "anna"}] * 50)
        rest = await self._rest_of(reader)
        writer.close()
        for chunk in rest:
            anna.heard += anna.parser.feed(chunk)
        assert 0 < len(anna.heard) < len(jobs), "it got the beginning"
        async with anna.connected():
            await anna.until(lambda heard: len(heard.events) >= len(jobs))
        assert sorted(anna.events) == sorted((job.id, 1) for job in jobs)
        await until(lambda: hub.listeners == 0, "the end of the stream")

    async def _open(self, address, token):
        """A connection with little room on its way, whose answer has begun."""
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
        plain.setblocking(False)
        host, port = address.removeprefix("http://").split(":")
        await asyncio.get_running_loop().sock_connect(plain, (host, int(port)))
        reader, writer = await asyncio.open_connection(sock=plain, limit=4096)
        writer.write(f"GET /api/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        async with asyncio.timeout(PATIENCE):
            head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        return reader, writer

    async def _rest_of(self, reader):
        """The chunks of the body that came whole before the connection was closed."""
        data = b""
        async with asyncio.timeout(PATIENCE):
            while piece := await reader.read(65536):
                data += piece
        chunks = []
        while b"\r\n" in data:
            size, _, data = data.partition(b"\r\n")
            length = int(size, 16)
            if len(data) < length + 2:
                break
            chunks.append(data[:length])
            data = data[length + 2 :]
        return chunks
