"""A file that came in one piece is handed over like one that came in many: by a job that commits with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from towpath import App, Transaction
from towpath.assets.new_asset import Stored, make_ready
from towpath.assets.purposes import purpose_of
from towpath.assets.sender import Sender
from towpath.assets.uploads.creating import Wanted, add_upload
from towpath.assets.uploads.finishing import enqueue_finish


@dataclass(frozen=True, slots=True)
class Submitted:
    upload_id: str
    job_id: str


async def submit(app: App, sender: Sender, stored: Stored, purpose: str, options: Mapping[str, str]) -> Submitted:
    """Raises `AssetRefused`, or what the purpose has against its options; then the file is the caller's to drop."""
    await purpose_of(app, purpose).check(app, sender, options)
    size = stored.intake.bytes
    wanted = Wanted(size, "", purpose, options)

    async def unit(tx: Transaction) -> Submitted:
        await make_ready(tx, stored, app.settings.upload_quota_bytes)
        await add_upload(tx, stored.id, sender, wanted, received=size)
        return Submitted(stored.id, await enqueue_finish(tx, stored.id, stored.tenant))

    return await app.transact(unit)
