"""One assistant at standard input and output, as programs on the same machine start it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from mcp.server.stdio import stdio_server

from towpath.assistants.api import Api, LocalFiles
from towpath.assistants.protocol import Context, server_of


async def serve_stdio(client: httpx.AsyncClient, files: LocalFiles) -> None:
    """Until the assistant goes away. Standard output belongs to the protocol: nothing else may be written there."""
    api = Api(client)

    @asynccontextmanager
    async def the_one(_: Context) -> AsyncIterator[Api]:
        yield api

    server = server_of(the_one, files)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
