"""Assistants as tests have them: the SDK's own client, over HTTP and at a process's standard input and output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

_MAIN = "from towpath.cli import main; main()"


class Assistant:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def does(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers, which is the same as text and as data."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert json.loads(result.content[0].text) == result.structured_content
        return dict(result.structured_content)

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.content
        return str(result.content[0].text)


@asynccontextmanager
async def over_http(url: str, token: str | None, *, mode: str = "auto") -> AsyncIterator[Assistant]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield Assistant(client)


@asynccontextmanager
async def at_a_process(*args: str, folder: Path, **env: str) -> AsyncIterator[Assistant]:
    bare = {name: value for name, value in os.environ.items() if not name.startswith("TOWPATH_")}
    started = StdioServerParameters(command=sys.executable, args=["-c", _MAIN, "mcp", *args], env=bare | env, cwd=folder)
    async with Client(started) as client:
        yield Assistant(client)
