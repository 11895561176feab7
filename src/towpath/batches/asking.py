"""One request at a time: it waits for others of its kind, goes out with them as one batch, and has its answer to itself."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from towpath import Context, Fatal, Reading, Row, SchemaInvalid, Transaction, Transient, from_json, to_json
from towpath.batches.gathering import Kind, join, waiting
from towpath.batches.handing_back import STOPPED, signal_of
from towpath.batches.names import ANSWERED, LOCAL
from towpath.batches.reading import LONGEST_LINE

LONGEST_NAME = 300
_ASKED_WRONGLY = frozenset({"refused", "invalid_input", "invalid_request_error", "too_large"})


@dataclass(slots=True)
class Request:
    """The payload of `batches.ask`."""

    body: dict[str, Any]
    model: str = ""
    provider: str = LOCAL
    window: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` is what was said, if anything was, `response` the provider's own answer; `cost_cents` is None if nobody can
    say."""

    text: str | None
    response: Any
    cost_cents: float | None
    batch_id: str


async def ask_for(ctx: Context, request: Request) -> dict[str, Any]:
    """The operation: a job that is one request."""
    answer = await ask(ctx, model=request.model, body=request.body, provider=request.provider, window=request.window)
    return asdict(answer)


async def ask(
    ctx: Context,
    *,
    model: str = "",
    body: dict[str, Any],
    provider: str = LOCAL,
    window: str | None = None,
    key: str = "",
) -> Answer:
    """Asks a model by the batch API of its provider, together with whatever others ask; the slot is free meanwhile.

    A job that asks more than once gives each request a `key`, as with steps. What the provider makes of the request is its
    answer or an error of this job: SchemaInvalid if asking again would be of no use, Transient if it may be. A job that is
    tried again asks again, and comes into another batch.
    """
    kind = _kind(ctx, provider, model, window)
    text = _text(body)
    digest = hashlib.sha256(to_json([*kind.fields.values(), body]).encode()).hexdigest()
    request = waiting(ctx.id, _name(key), text, digest)
    signal = signal_of(ANSWERED, request.name)

    async def standing(now: Reading) -> tuple[Row | None, Row | None]:
        waits = await now.query("batch_request_wait", job_id=ctx.id, step=f"signal {signal}")
        rows = await now.query("batch_request_of", job_id=ctx.id, name=request.name)
        return (waits[0] if waits else None), (rows[0] if rows else None)

    wait, row = await ctx.read(standing)
    if wait is None or not wait["done"]:
        if row is not None and row["error"] is not None:
            await _forget(ctx, request.name)
            raise _failure(from_json(row["error"]))
        # What is on record of an earlier life of the job, which had another payload, is not what is asked now.
        if row is None or (wait is None and row["digest"] != digest):

            async def unit(tx: Transaction) -> None:
                await tx.change("batch_request_forget", job_id=ctx.id, name=request.name)
                await join(tx, ctx.settings, kind, request)

            await ctx.transact(unit)
    return Answer(**await ctx.wait_for(signal))


async def _forget(ctx: Context, name: str) -> None:
    async def unit(tx: Transaction) -> None:
        await tx.change("batch_request_forget", job_id=ctx.id, name=name)

    await ctx.transact(unit)


def _kind(ctx: Context, provider: str, model: str, window: str | None) -> Kind:
    asked = provider.strip().upper().replace("-", "_")
    model = model or (ctx.settings.chat_model if asked == LOCAL else "")
    if not model:
        raise SchemaInvalid("name the model that is to be asked", path="model")
    return Kind(ctx.tenant, asked, model, window or "")


def _text(body: dict[str, Any]) -> str:
    if not body:
        raise SchemaInvalid("it is the request as the chat API takes it, and empty", path="body")
    text = to_json(body)
    if len(text) > LONGEST_LINE // 2:
        raise SchemaInvalid(f"a request may have {LONGEST_LINE // 2:,} characters, this has {len(text):,}", path="body")
    return text


def _name(key: str) -> str:
    if len(key) > LONGEST_NAME or not (key == "" or key.isprintable()):
        raise SchemaInvalid(f"is printable text of at most {LONGEST_NAME} characters, got {key[:50]!r}", path="key")
    return key


def _failure(error: dict[str, Any]) -> Exception:
    code, message = str(error.get("code")), str(error.get("message"))
    if code == STOPPED:
        return Fatal(message, remedy="requeue this job, and it comes into another batch")
    if code in _ASKED_WRONGLY:
        return SchemaInvalid(message)
    return Transient(message)
