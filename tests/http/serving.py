"""Real servers on loopback, for what only a real connection shows."""

import asyncio
import contextlib
import socket

import uvicorn


@contextlib.asynccontextmanager
async def served(api, **options):
    """Runs an ASGI app; answers its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(api, log_config=None, access_log=False, proxy_headers=False, lifespan="off", **options)
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        await asyncio.wait_for(task, 30)
        listening.close()


@contextlib.asynccontextmanager
async def answering(answer, *, host="127.0.0.1", tls=None):
    """A server that reads one request a connection and sends back the bytes `answer` makes of it; answers its port."""

    async def serve(reader, writer):
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            writer.write(answer(head))
            await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError, OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, host, 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]
