"""A stream of events in slices that can be handled."""

from __future__ import annotations

from towpath.store.contract import Tx


async def slice_end(tx: Tx, since: str, until: str, limit: int) -> str:
    """Where to end a slice of about so many events, if not at `until`, so that no job's events come in the wrong order."""
    upto: str = (await tx.fetch("stream_end", since=since, until=until, limit=limit))[0]["cursor"]
    while upto != until:
        late = await tx.fetch("stream_stragglers", since=since, upto=upto, until=until)
        if not late:
            break
        upto = late[0]["cursor"]
    return upto
