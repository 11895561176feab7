"""Where `towpath ingest` has its documents read."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from towpath.cli.asking import check_token
from towpath.cli.extras import need
from towpath.cli.ingesting.place import Place
from towpath.store.private import make_folder


def place_for(
    data: Path, server: str | None, token: str | None, concurrency: int
) -> AbstractAsyncContextManager[Place]:  # fmt: skip
    """What reads and what finds are extras, and a server that is asked has its own."""
    check_token(server, token)
    if server is not None:
        from towpath.cli.ingesting.remotely import on_server

        return on_server(server, token)
    need("documents", useful=("local",))
    need("local")
    from towpath.cli.ingesting.locally import on_this_machine

    folder = data.absolute()
    make_folder(folder)
    return on_this_machine(folder, concurrency)
