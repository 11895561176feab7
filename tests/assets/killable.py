"""A server for a test to kill: python -m tests.assets.killable FOLDER PORT [STAGE]

With a stage it kills itself when an upload that has all its bytes comes to it: `assembling`, `receiving`, `received`.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import uvicorn

from tests.assets.tus import Notes
from towpath import App, Settings, recordings
from towpath.assets.uploads import appending, finishing
from towpath.identity import accounts, tokens
from towpath.server import ServerOptions, create_app


async def main(folder: Path, port: int, stage: str) -> None:
    appending.PART = 100_000
    # What a killed server held is free again after a lease: the next one's tests wait for as long as that.
    settings = Settings(blobs_url=(folder / "blobs").as_uri(), lease_seconds=1.0, poll_seconds=0.2)
    app = App(f"sqlite:///{folder}/jobs.db", settings=settings)
    recordings.attach(app)
    Dying(stage).attached(app)
    if stage == "assembling":
        finishing._assembled = _die  # type: ignore[assignment]  # all bytes are there, and nothing has been made of them
    api = create_app(app, ServerOptions(ui=False))
    async with app:
        if not (folder / "token").exists():
            account = await accounts.create(app.services.store, "ann", tenants=["north"])
            (folder / "token").write_text((await tokens.create(app.services.store, account, name="test"))[0])
        await uvicorn.Server(uvicorn.Config(api, port=port, log_level="warning", ws="none")).serve()


class Dying(Notes):
    """Dies before or after it has taken a file."""

    def __init__(self, stage: str) -> None:
        super().__init__()
        self._stage = stage

    async def receive(self, *given: Any) -> dict[str, Any]:
        if self._stage == "receiving":
            await _die()
        result = await super().receive(*given)
        if self._stage == "received":
            await _die()
        return result


async def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), (sys.argv[3:] or [""])[0]))
