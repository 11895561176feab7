"""Files that are sent to be read: they are kept, and a run names them by their ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from towpath import App, SchemaInvalid, Transaction, assets
from towpath.assets import Arrival, Sender

PURPOSE = "document"


def take_uploads(app: App) -> None:
    """Of any kind: what cannot be read is told item by item, when it is read."""
    assets.on_upload(app, PURPOSE, _received, check=_check, kinds=None)


async def _check(app: App, sender: Sender, options: Mapping[str, str]) -> None:
    if options:
        raise SchemaInvalid("files for documents take no options; they are said with the run", path=min(options)[:100])


async def _received(tx: Transaction, arrival: Arrival) -> dict[str, Any]:
    return {"asset_id": arrival.asset.id}
