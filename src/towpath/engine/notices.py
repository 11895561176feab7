"""Changes that no job makes: a slice says that it has changed something, and streams tell of it as of a job's change.

A notice is written by the transaction that makes the change, and is an event of the one stream. So it is told after the
commit or not at all, in every process, and to those who come back later.
"""

from __future__ import annotations

from collections.abc import Iterable

from towpath.core.ids import uuid7s
from towpath.engine.registry import check_label, check_subject
from towpath.store.contract import Tx


async def tell(tx: Tx, kind: str, ids: Iterable[str], tenant: str) -> None:
    whose = check_label("tenant", tenant)
    subjects = [check_subject((kind, one)) for one in dict.fromkeys(ids)]
    if not subjects:
        return
    numbers = uuid7s(len(subjects))
    rows = [
        {"id": number, "tenant": whose, "now": tx.now, "kind": known, "subject_id": subject_id}
        for number, (known, subject_id) in zip(numbers, subjects, strict=True)
    ]
    await tx.execute_many("notice_add", rows)
    await tx.execute("list_last", ids=numbers, now=tx.now)
    tx.wake_streams = True
