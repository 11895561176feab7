"""Objects become tasks, each content of each key once, however often and in whatever order it is told of."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from posixpath import basename

from towpath import App, SchemaInvalid, Transaction, new_id
from towpath.fleet.events import Created, is_older
from towpath.fleet.intake import Located, Owner, Wanted, add
from towpath.fleet.names import BUCKETS_QUEUE, IN_BUCKET
from towpath.fleet.recovering import ensure_lane
from towpath.fleet.storage import Place, Storages

log = logging.getLogger("towpath.fleet")
TAKEN, KNOWN, IGNORED = "taken", "known", "ignored"


@dataclass(frozen=True, slots=True)
class Intake:
    """What becomes of objects in one folder of one bucket."""

    input: Place
    output: Place
    work: str
    """The queue that its tasks are sent to; empty: workers ask for them over HTTPS."""
    wanted: Wanted
    tenant: str
    suffix: str = ".json"

    def concerns(self, found: Created) -> bool:
        """Results that lie in the bucket of their inputs are no inputs, nor is what attempts leave on their way."""
        if found.bucket != self.input.bucket.partition("://")[2] or not found.key.startswith(self.input.folder):
            return False
        if found.key.startswith(f"{IN_BUCKET}/"):
            return False
        same = self.output.bucket == self.input.bucket
        return not (same and found.key.startswith(self.output.folder) and found.key.endswith(self.suffix))

    def result_key(self, found: Created) -> str:
        return self.output.key(f"{found.key.removeprefix(self.input.folder)}{self.suffix}")


async def take(app: App, intake: Intake, found: Created) -> str:
    """TAKEN: there is a task now. KNOWN: this content was told of before, or a newer one was."""
    if not intake.concerns(found) or found.size == 0:
        return IGNORED
    whole = await _current(app, intake, found)
    if whole is None:
        return IGNORED
    await ensure_lane(app, BUCKETS_QUEUE, intake.tenant)
    task_id, source = new_id(), intake.input.bucket
    key = {"source": source, "object_key": whole.key}

    async def unit(tx: Transaction) -> str:
        await tx.change("fleet_object_add", **key)
        [before] = await tx.query("fleet_object_lock", **key)
        if _is_same(before["version"], before["etag"], whole):
            await tx.change("fleet_object_set", **key, task_id=before["task_id"], **_marks(before, whole))
            return KNOWN
        if is_older(whole.sequencer, before["sequencer"]):
            return KNOWN
        mark = whole.version or whole.etag
        if await tx.query("fleet_task_known", **key, mark=mark):
            return KNOWN
        marks = {"version": whole.version, "etag": whole.etag, "sequencer": whole.sequencer}
        await tx.change("fleet_object_set", **key, task_id=task_id, **marks)
        at = Located(
            source, whole.key, mark, whole.etag, whole.size, intake.output.bucket, intake.result_key(whole), intake.work,
            basename(whole.key),
        )  # fmt: skip
        await add(tx, task_id, intake.wanted, at, Owner(intake.tenant))
        return TAKEN

    return await app.transact(unit)


def _is_same(version: str, etag: str, found: Created) -> bool:
    """Two versions with the same content are two; a listing knows no versions, and says nothing new about what it knows."""
    if version and found.version:
        return version == found.version
    return bool(etag) and etag == found.etag


def _marks(before: object, found: Created) -> dict[str, str]:
    """What was not known yet is, from now on; the sequencer is the later one."""
    told = before if isinstance(before, dict) else dict(before)  # type: ignore[call-overload]  # a row is a mapping
    newer = found.sequencer if not is_older(found.sequencer, told["sequencer"]) else ""
    return {
        "version": told["version"] or found.version, "etag": told["etag"] or found.etag,
        "sequencer": newer or told["sequencer"],
    }  # fmt: skip


async def _current(app: App, intake: Intake, found: Created) -> Created | None:
    """As it is in its bucket now: a notice of what was replaced meanwhile is one of what is there. None: it is gone."""
    try:
        there = await app.part(Storages).bucket(intake.input.bucket).head(found.key)
    except SchemaInvalid as error:
        # Others that came in the same notice are none the worse for it.
        log.warning("passed over an object whose key cannot be used, %r: %s", found.key[:200], error)
        return None
    if there is None or there.size == 0:
        return None
    if found.etag and there.etag != found.etag:
        return Created(found.bucket, found.key, there.size, there.etag)
    return Created(found.bucket, found.key, there.size, there.etag, found.version, found.sequencer)
