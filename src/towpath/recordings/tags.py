"""What people sort their recordings by: short words of their own. Capitals do not tell two tags apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from towpath import App, SchemaInvalid, Transaction, plain_text
from towpath.recordings.names import KIND
from towpath.recordings.records import Recording
from towpath.recordings.stored import RecordingNotFound, Source

LONGEST = 50
MOST = 30
"""Of one recording."""


def key_of(tag: str) -> str:
    return " ".join(tag.split()).casefold()


def keys_of(tags: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(key_of(tag) for tag in tags))


def tags_from(given: Iterable[str]) -> dict[str, str]:
    """Tags as people typed them, by their keys, each once."""
    found: dict[str, str] = {}
    for one in given:
        tag = " ".join(plain_text(one, LONGEST * 4).split())
        if not tag or len(tag) > LONGEST:
            raise SchemaInvalid(f"a tag has 1 to {LONGEST} characters, got {tag[:80]!r}", path="tags")
        found.setdefault(key_of(tag), tag)
    return found


async def tags_of(source: Source, ids: Sequence[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in await source.query("recording_tags_of", ids=list(ids)) if ids else []:
        found.setdefault(row["recording_id"], []).append(row["tag"])
    return found


async def tag(app: App, recording: Recording, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
    """Adds some and takes others away; what it has of them already, or has not, stays as it is."""
    more, less = tags_from(add), keys_of(remove)

    async def unit(tx: Transaction) -> None:
        await _lock(tx, recording)
        await tx.change("recording_tags_remove", recording_id=recording.id, keys=less)
        await _add(tx, recording, more)

    await app.transact(unit)


async def retag(app: App, recording: Recording, tags: Iterable[str]) -> None:
    """These and no others."""
    wanted = tags_from(tags)

    async def unit(tx: Transaction) -> None:
        await _lock(tx, recording)
        await tx.change("recording_tags_delete", ids=[recording.id])
        await _add(tx, recording, wanted)

    await app.transact(unit)


async def _lock(tx: Transaction, recording: Recording) -> None:
    if not await tx.query("recording_lock", id=recording.id):
        raise RecordingNotFound(f"no recording has the id {recording.id!r}; it may have been deleted")


async def _add(tx: Transaction, recording: Recording, tags: Mapping[str, str]) -> None:
    for key, one in tags.items():
        await tx.change("recording_tag_add", recording_id=recording.id, key=key, tag=one)
    if len(await tx.query("recording_tags_of", ids=[recording.id])) > MOST:
        raise SchemaInvalid(f"a recording has at most {MOST} tags; take one away first", path="tags")
    await tx.tell(KIND, recording.id, tenant=recording.tenant)
