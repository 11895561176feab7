"""A server asked over its API, by commands that let it do their work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from towpath.core.errors import ConfigurationError, Fatal, TowpathError

if TYPE_CHECKING:
    import httpx

_NOT_LOGGED_IN, _NOT_FOUND = 401, 404

Server = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", help="Let this server do it instead of this machine.", show_default=False),
]
Token = Annotated[
    str | None,
    typer.Option("--token", metavar="TOKEN", help="An API token of that server.", show_default=False),
]


class ServerAway(ConfigurationError):
    """The server does not answer at all; a moment later it may."""


class Refused(Fatal):
    """The server's own words for why it did not do something."""

    def __init__(self, message: str, *, status: int, remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.status = status


class NotThere(Refused, LookupError):
    """The server has nothing of this id, or nothing that is ours."""


def check_token(server: str | None, token: str | None) -> None:
    if token is not None and server is None:
        raise ConfigurationError("--token is for --server; a data directory on this machine needs none")


@asynccontextmanager
async def server_at(url: str, token: str | None) -> AsyncIterator[httpx.AsyncClient]:
    try:
        import httpx
    except ImportError:
        missing = "asking a server needs httpx, which is not installed: pip install 'towpath[server]'"
        raise ConfigurationError(missing) from None
    if not url.startswith(("http://", "https://")):
        raise ConfigurationError(f"--server takes a URL such as http://localhost:8642, got {url!r}")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    limits = httpx.Timeout(60.0, read=300.0, write=300.0)
    async with httpx.AsyncClient(base_url=url.rstrip("/"), headers=headers, timeout=limits) as client:
        yield client


async def ask(client: httpx.AsyncClient, method: str, path: str, **options: Any) -> httpx.Response:
    """The answer, if it is a good one; a refusal is raised in the server's own words."""
    import httpx

    try:
        answer = await client.request(method, path, **options)
    except httpx.HTTPError as error:
        raise ServerAway(f"the server at {client.base_url} does not answer: {str(error) or type(error).__name__}") from None
    if answer.is_success:
        return answer
    raise _refusal(answer)


def _refusal(answer: httpx.Response) -> TowpathError:
    if answer.status_code == _NOT_LOGGED_IN:
        return _no_way_in(answer)
    try:
        problem = answer.json()
        kind = NotThere if answer.status_code == _NOT_FOUND else Refused
        return kind(str(problem["detail"]), status=answer.status_code, remedy=problem.get("remedy"))
    except (ValueError, KeyError, TypeError):
        told = f"the server answered {answer.status_code} and nothing that could be read"
        return Refused(told, status=answer.status_code)


def _no_way_in(answer: httpx.Response) -> TowpathError:
    """The server speaks of headers; whoever runs a command has an option."""
    remedy = "make one in the UI under Settings, or there with: towpath token create"
    if "authorization" in answer.request.headers:
        message = "does not accept this --token: it has ended or is misspelt"
    else:
        message = "asks for an API token; give it with --token TOKEN"
    return Refused(f"the server at {answer.url.host} {message}", status=_NOT_LOGGED_IN, remedy=remedy)
