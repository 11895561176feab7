"""A server for a test to kill: python -m tests.assets.killable FOLDER PORT [die_when_complete]"""

import asyncio
import os
import sys
from pathlib import Path

import uvicorn

from tests.assets.tus import Notes
from towpath import App, Settings, assets
from towpath.assets.uploads import appending, finishing
from towpath.http import accounts, tokens
from towpath.server import ServerOptions, create_app


async def main(folder: Path, port: int, die: bool) -> None:
    notes = Notes()
    assets.receivers["note"], assets.checks["note"] = notes.receive, notes.check
    appending.PART = 100_000
    if die:
        finishing._assembled = _death  # type: ignore[assignment]  # all bytes are there, and nothing has been made of them
    app = App(f"sqlite:///{folder}/jobs.db", settings=Settings(blobs_url=(folder / "blobs").as_uri()))
    api = create_app(app, ServerOptions(ui=False))
    async with app:
        if not (folder / "token").exists():
            account = await accounts.create(app.services.store, "ann", tenants=["north"])
            (folder / "token").write_text((await tokens.create(app.services.store, account, name="test"))[0])
        await uvicorn.Server(uvicorn.Config(api, port=port, log_level="warning", ws="none")).serve()


async def _death(*_: object) -> None:
    os._exit(9)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), "die_when_complete" in sys.argv))
