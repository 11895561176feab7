"""Answers on their way back, from a batch to the jobs that asked: some hundreds in one transaction.

A request's row goes in the transaction that puts the answer on record with its job, so each is handed back once, whoever
begins again in the middle. Why there is no answer stays in the row: the job reads it, and may ask again in another batch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from towpath import App, Context, Job, Price, Row, State, Transaction, to_json
from towpath.batches import stored
from towpath.batches.gathering import ref_of
from towpath.batches.lines import lines_of
from towpath.batches.names import ANSWERED, COMPLETE, KIND, UNANSWERED, results_key
from towpath.batches.records import Batch
from towpath.batches.usage import tokens_in_answer

_AT_ONCE = 200
_BYTES_AT_ONCE = 4 * 1024 * 1024
_ROOM = 4096
"""What is said around an answer where it is recorded."""

STOPPED, LOST = "batch_stopped", "not_answered"


@dataclass(slots=True)
class Told:
    payload: dict[str, Any] | None
    error: dict[str, Any] | None


async def hand_back(app: App, source: App | Context, batch: Batch) -> None:
    """What the results of the batch have for each; whoever is not in them is told that, too."""
    prices = await app.prices.get()
    most = app.settings.max_payload_bytes - _ROOM
    held: dict[str, Told] = {}
    size = 0
    async with aclosing(lines_of(source.blobs, results_key(batch.id))) as lines:
        async for line in lines:
            told = json.loads(line)
            held[told["custom_id"]] = _told(batch, told, prices, too_large=len(line) > most)
            size += len(line)
            if len(held) >= _AT_ONCE or size >= _BYTES_AT_ONCE:
                await _some(app, batch.id, held)
                held, size = {}, 0
    await _some(app, batch.id, held)
    await refuse(app, batch.id, {"code": LOST, "message": "its batch has ended, and there is no answer to this request"})


def _told(batch: Batch, told: dict[str, Any], prices: Mapping[str, Price], *, too_large: bool) -> Told:
    if told["error"] is not None:
        return Told(None, told["error"])
    if too_large:
        message = f"its answer is larger than a step's output may be; it is among the results of batch {batch.id}"
        return Told(None, {"code": "too_large", "message": message})
    tokens_in, tokens_out = tokens_in_answer(told["response"])
    price = prices.get(told["model"])
    known = price is not None and (tokens_in is not None or tokens_out is not None)
    cents = price.of(tokens_in or 0, tokens_out or 0) if known and price is not None else None
    answer = {name: told[name] for name in ("text", "response")}
    return Told(answer | {"cost_cents": cents, "batch_id": batch.id}, None)


async def _some(app: App, batch_id: str, held: Mapping[str, Told]) -> None:
    if not held:
        return

    async def unit(tx: Transaction) -> None:
        rows = [row for row in await _of(tx, batch_id, held) if ref_of(str(row["job_id"]), row["name"]) in held]
        answers = {int(row["number"]): held[ref_of(str(row["job_id"]), row["name"])] for row in rows}
        good = [number for number, told in answers.items() if told.payload is not None]
        taken = await tx.query("batch_requests_take", batch_id=batch_id, numbers=good) if good else []
        await tx.signal_many(
            [(str(row["job_id"]), signal_of(ANSWERED, row["name"]), answers[int(row["number"])].payload) for row in taken]
        )
        await _fail(tx, batch_id, {number: told.error for number, told in answers.items() if told.error is not None})

    await app.transact(unit)


async def _of(tx: Transaction, batch_id: str, held: Mapping[str, Told]) -> Sequence[Row]:
    jobs = sorted({ref.partition(":")[0] for ref in held})
    return await tx.query("batch_requests_of_jobs", batch_id=batch_id, job_ids=jobs)


async def _fail(tx: Transaction, batch_id: str, errors: Mapping[int, dict[str, Any]]) -> None:
    alike: dict[str, list[int]] = {}
    for number, error in errors.items():
        alike.setdefault(to_json(error), []).append(number)
    failed: list[Row] = []
    for text, numbers in alike.items():
        failed += await tx.query("batch_requests_fail", batch_id=batch_id, numbers=numbers, error=text)
    reached = set(await tx.signal_many([(str(row["job_id"]), signal_of(UNANSWERED, row["name"]), None) for row in failed]))
    gone = sorted({str(row["job_id"]) for row in failed} - reached)
    if gone:  # whoever brings them back to life has them ask anew
        await tx.change("batch_requests_withdraw", batch_id=batch_id, job_ids=gone)


async def refuse(app: App, batch_id: str, error: dict[str, Any]) -> None:
    """Tells all that have not heard yet that nothing comes of their requests."""

    async def unit(tx: Transaction) -> int:
        rows = await tx.query("batch_requests_page", batch_id=batch_id, after=0, limit=_AT_ONCE)
        await _fail(tx, batch_id, {int(row["number"]): error for row in rows})
        return len(rows)

    while await app.transact(unit) == _AT_ONCE:
        pass


def signal_of(signal: str, name: str) -> str:
    return f"{signal}:{name}" if name else signal


async def tell_askers(app: App, ctx: Context, payload: dict[str, Any]) -> None:
    """The last word of a gathered batch's job: it failed or was cancelled, and whoever asked hears of it."""
    batch_id = str(payload["batch_id"])

    async def unit(tx: Transaction) -> None:
        await tx.change("gathering_void", batch_id=batch_id)

    await app.transact(unit)
    found = await stored.by_ids(app, [batch_id])
    if found and found[0].result_bytes is not None and await app.blobs.head(results_key(batch_id)) is not None:
        await hand_back(app, ctx, found[0])  # what was answered has been paid for
    jobs = (await app.subjects.jobs(KIND, [batch_id]))[batch_id]
    await refuse(app, batch_id, _why(bool(found), [job for job in jobs if job.operation == COMPLETE]))


def _why(there: bool, jobs: Sequence[Job]) -> dict[str, Any]:
    if not there or not jobs:
        return {"code": STOPPED, "message": "its batch was deleted"}
    if jobs[-1].state is State.CANCELLED:
        return {"code": STOPPED, "message": "its batch was cancelled"}
    return {"code": STOPPED, "message": f"its batch failed: {(jobs[-1].error or {}).get('message') or 'nobody knows why'}"}
