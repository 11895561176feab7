"""Files that are sent to be asked about: they are kept, and a batch names them by their ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from towpath import App, SchemaInvalid, Transaction, assets
from towpath.assets import Arrival, Sender

PURPOSE = "batch"


def take_uploads(app: App) -> None:
    """Of any kind: whether its lines can be asked is said line by line, when the batch reads them."""
    assets.on_upload(app, PURPOSE, _received, check=_check, kinds=None)


async def _check(app: App, sender: Sender, options: Mapping[str, str]) -> None:
    if options:
        raise SchemaInvalid(
            "files for batches take no options; they are said when the batch is made", path=min(options)[:100]
        )


async def _received(tx: Transaction, arrival: Arrival) -> dict[str, Any]:
    return {"asset_id": arrival.asset.id}
