"""The waits of a Context: each frees the slot, and the operation is entered again from the top when it is over."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from towpath.core.encoding import decode, encode, plain
from towpath.core.errors import ChildrenFailed, RateLimited, WaitTimeout
from towpath.core.records import NewJob, Step
from towpath.engine.registry import check_label
from towpath.engine.running.children import Children
from towpath.engine.running.steps import SHORT_WAIT
from towpath.engine.tracing import enqueueing
from towpath.store import journal

if TYPE_CHECKING:
    from towpath.engine.running.context import Context
    from towpath.store.contract import Tx

_LEVELS = ("debug", "info", "warning", "error")


def full_name(name: str, key: str | None) -> str:
    return check_label("step", name if key is None else f"{name}:{key}")


def check_event(name: str, level: str) -> None:
    if not name or plain(name) != name:
        raise ValueError(f"an event name is valid text without NUL, got {name!r}")
    if name.startswith(("job.", "step.")):
        raise ValueError(f"event names beginning with job. or step. are the engine's own, got {name!r}")
    if level not in _LEVELS:
        raise ValueError(f"level must be one of {', '.join(_LEVELS)}, got {level!r}")


def check_progress(current: float, total: float | None) -> None:
    for value in (current, total):
        if value is not None and (not math.isfinite(value) or value < 0):
            raise ValueError(f"progress must be zero or more, got {current!r} of {total!r}")
    if total is not None and current > total:
        raise ValueError(f"progress cannot exceed its total, got {current!r} of {total!r}")


def progress_in(fields: Any) -> tuple[float | None, float | None] | None:
    """`_progress_current` and `_progress_total` in an event's fields or in a result set the job's progress."""
    if not isinstance(fields, dict):
        return None
    current, total = _number(fields.get("_progress_current")), _number(fields.get("_progress_total"))
    return None if current is None and total is None else (current, total)


def _number(value: Any) -> float | None:
    """Whatever is not a progress is somebody's own field."""
    sensible = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return value if sensible else None


async def gather(
    ctx: Context, operation: str, payloads: Iterable[Any], key: str | None, partial_ok: bool, options: dict[str, Any]
) -> Children:
    name = full_name(f"gather {operation}", key)
    found = (await ctx.memory()).use(name, "gather")
    job = ctx.claimed
    if found is None:
        with enqueueing([operation]):
            children = await _make(ctx, operation, payloads, name, options)
            out = await _fan_out(ctx, "gather", name, children, awaited=True)
        if out.open:  # none: there are no children, or the answer was lost, and they have all ended since
            raise ctx.suspend("children", wakes_seen=out.wakes)
    elif job.await_group == name and job.await_open > 0:
        raise ctx.suspend("children", wakes_seen=job.wakes)
    return await _collect(ctx, name, partial_ok)


async def _collect(ctx: Context, name: str, partial_ok: bool) -> Children:
    async def unit(tx: Tx) -> tuple[dict[str, int], list[Any]]:
        counts = await tx.fetch("child_states", parent_id=ctx.id, child_group=name)
        sample = await tx.fetch("failed_children_sample", parent_id=ctx.id, child_group=name)
        return {row["state"]: row["jobs"] for row in counts}, [decode(row["error"]) for row in sample]

    counts, errors = await ctx.services.store.read(unit)
    children = Children(ctx.services, ctx.id, name, counts)
    if not children.all_ok and not partial_ok:
        causes = "; ".join(error["message"] for error in errors if error)
        raise ChildrenFailed(
            f"{children.failed} of {children.total} children did not succeed{': ' + causes if causes else ''}",
            children=children,
        )
    return children


async def spawn(ctx: Context, operation: str, payloads: Iterable[Any], key: str | None, options: dict[str, Any]) -> int:
    name = full_name(f"spawn {operation}", key)
    found = (await ctx.memory()).use(name, "spawn")
    ctx.spawned = True
    if found is not None:
        return int((decode(found.output_json) or {}).get("children", 0))
    with enqueueing([operation]):
        children = await _make(ctx, operation, payloads, name, options)
        await _fan_out(ctx, "spawn", name, children, awaited=False)
    return len(children)


async def _make(ctx: Context, operation: str, payloads: Iterable[Any], group: str, options: dict[str, Any]) -> list[NewJob]:
    jobs, subject = [], options.get("subject")
    for payload in payloads:
        own = {**options, "subject": subject(payload)} if callable(subject) else options
        job = ctx.services.new_job(operation, payload, **ctx.inherit(own))
        job.parent_id, job.root_id, job.child_group = ctx.id, ctx.claimed.root_id, group
        jobs.append(await ctx.services.place_payload(job))
    return jobs


async def _fan_out(ctx: Context, kind: str, name: str, children: Sequence[NewJob], *, awaited: bool) -> journal.FanOut:
    out = await ctx.services.store.run(
        lambda tx: journal.fan_out(tx, ctx.id, ctx.fence, kind=kind, name=name, children=children, awaited=awaited)
    )
    (await ctx.memory()).put(out.step)
    return out


async def sleep(ctx: Context, seconds: float, key: str | None) -> None:
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError(f"sleep takes zero or more seconds, got {seconds!r}")
    name = full_name("sleep", key)
    (await ctx.memory()).use(name, "sleep")
    step = Step(ctx.id, name, "sleep")
    step, wakes, now = await ctx.services.store.run(lambda tx: journal.begin_wait(tx, ctx.id, ctx.fence, step, seconds))
    if step.until is not None and step.until > now:
        raise ctx.suspend("sleep", wakes_seen=wakes, deadline=step.until)


async def wait_for(ctx: Context, signal: str, timeout: float | None, key: str | None) -> Any:
    name = full_name(f"signal {signal}", key)
    step = (await ctx.memory()).use(name, "signal") or await _begin_signal(ctx, name, signal, timeout)
    if not step.done:
        asked = step
        step, wakes = await ctx.services.store.run(lambda tx: journal.take_signal(tx, ctx.id, ctx.fence, signal, asked))
        if not step.done:
            raise ctx.suspend("signal", wakes_seen=wakes, deadline=step.until)
    output = decode(step.output_json) or {}
    if output.get("timeout"):
        raise WaitTimeout(f"no signal {signal!r} came within {timeout} seconds")
    return output.get("payload")


async def _begin_signal(ctx: Context, name: str, signal: str, timeout: float | None) -> Step:
    """Until it comes, the step says which one it is: its own name may also hold a key."""
    new = Step(ctx.id, name, "signal", done=False, output_json=encode({"signal": signal}))
    step, _, _ = await ctx.services.store.run(lambda tx: journal.begin_wait(tx, ctx.id, ctx.fence, new, timeout))
    return step


async def share_progress(ctx: Context) -> None:
    await ctx.flush_progress()
    parent = ctx.parent_id
    if parent is not None:
        await ctx.services.store.run(lambda tx: journal.sum_progress(tx, parent))


async def budget(ctx: Context, name: str) -> None:
    wait = await ctx.budgets.wait_seconds(name)
    if wait > SHORT_WAIT:
        raise RateLimited(f"the budget {name} is blocked for another {wait:.0f} s", retry_after=wait)
    if wait > 0:
        await asyncio.sleep(wait)
