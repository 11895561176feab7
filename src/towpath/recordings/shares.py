"""Links by which people without an account may read one recording until a moment that is set when the link is made."""

from __future__ import annotations

from datetime import timedelta

from towpath import App, Reading, Transaction, new_id
from towpath.identity.secrets import digest, draw
from towpath.recordings.records import Recording, Share, share_from
from towpath.recordings.stored import Source


async def share(app: App, recording: Recording, *, hours: float, with_audio: bool, by: str | None) -> tuple[str, Share]:
    """The secret of a new link, which is stored nowhere, and the link."""
    secret, number = draw(), new_id()

    async def unit(tx: Transaction) -> Share:
        until = tx.now + timedelta(hours=hours)
        await tx.change(
            "share_add", id=number, recording_id=recording.id, digest=digest(secret), with_audio=with_audio,
            created_by=by, now=tx.now, expires_at=until,
        )  # fmt: skip
        return Share(number, recording.id, with_audio, tx.now, until)

    return secret, await app.transact(unit)


async def shares_of(source: Source, recording: Recording) -> list[Share]:
    """Those that have not expired."""

    async def unit(tx: Reading) -> list[Share]:
        return [share_from(row) for row in await tx.query("shares_of", recording_id=recording.id, now=tx.now)]

    return await source.read(unit)


async def withdraw(source: Source, recording: Recording, share_id: str) -> bool:
    return await source.transact(lambda tx: tx.change("share_delete", id=share_id, recording_id=recording.id)) > 0


async def opened(source: Source, secret: str) -> tuple[str, bool] | None:
    """The recording behind a secret and whether its audio is shared too; None if there is none, or not any more."""

    async def unit(tx: Reading) -> tuple[str, bool] | None:
        rows = await tx.query("share_by_digest", digest=digest(secret), now=tx.now)
        return (rows[0]["recording_id"], bool(rows[0]["with_audio"])) if rows else None

    return await source.read(unit)
