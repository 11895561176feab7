"""Durable steps: each runs once per job, and its record answers every later entry."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from towpath.core.errors import Category, HistoryMismatch, LeaseLost, RateLimited, StepNameReused
from towpath.core.reactions import categorise, describe, message_of
from towpath.core.records import Step
from towpath.core.usage import Usage, call
from towpath.engine.running.current import busy_with, current_meter
from towpath.engine.tracing import span
from towpath.engine.values import blob_prefix
from towpath.store.journal import Note, mismatch

if TYPE_CHECKING:
    from towpath.engine.running.context import Context

# Rate limits shorter than this are waited out in place; longer ones give the slot back.
SHORT_WAIT = 5.0


class Meter:
    """What a step has used: model, tokens, money."""

    __slots__ = ("_used", "cost_cents", "model", "tokens_in", "tokens_out")

    def __init__(self) -> None:
        self._used: dict[str, Usage] = {}
        self.model: str | None = None
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None
        self.cost_cents: float | None = None

    def add(self, model: str | None, tokens_in: int | None, tokens_out: int | None, cost_cents: float | None) -> None:
        self.model = model or self.model
        self.tokens_in = _plus(self.tokens_in, tokens_in)
        self.tokens_out = _plus(self.tokens_out, tokens_out)
        self.cost_cents = _plus(self.cost_cents, cost_cents)
        used = call(model, tokens_in, tokens_out, cost_cents)
        if used is not None:
            self._used.setdefault(used.model, Usage(used.model)).add(used)

    def fields(self) -> dict[str, Any]:
        told = ("cost_cents", "model", "tokens_in", "tokens_out")
        return {name: getattr(self, name) for name in told if getattr(self, name) is not None}

    @property
    def used(self) -> list[Usage]:
        """By model: a step may call several."""
        return list(self._used.values())


def _plus(old: Any, new: Any) -> Any:
    return old if new is None else new if old is None else old + new


class Memory:
    """The steps of one job as recorded, and the names this entry has used so far."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = {step.name: step for step in steps}
        self._used: set[str] = set()
        self.failed_before: dict[str, int] = {}

    def use(self, name: str, kind: str) -> Step | None:
        """The record of this name, if any. A name stands for one thing, once per entry."""
        if name in self._used:
            raise StepNameReused(
                f"{kind} {name!r} was already used in this entry of the operation; give this one its own key, "
                f"for instance key=str(index)"
            )
        self._used.add(name)
        step = self._steps.get(name)
        if step is not None and step.kind != kind:
            raise HistoryMismatch(mismatch(name, step.kind, kind))
        return step

    def put(self, step: Step) -> None:
        self._steps[step.name] = step

    def __len__(self) -> int:
        return len(self._steps)


async def run_step(ctx: Context, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    found = (await ctx.memory()).use(name, "step")
    if found is not None and found.done:
        return await ctx.values.fetch(found.output_json)
    retries = found.retries if found is not None else 0
    ctx.jot(name="step.started", fields={"step": name})
    meter, started = Meter(), time.monotonic()
    meter_token, busy_token = current_meter.set(meter), busy_with.set("step")
    try:
        with span(f"step {name}", step=name, retries=retries):
            value = await _patiently(ctx, name, function, args, kwargs)
    except (asyncio.CancelledError, LeaseLost):
        raise
    except Exception as error:
        _failed(ctx, name, error, retries, started, meter)
        raise
    finally:
        busy_with.reset(busy_token)
        current_meter.reset(meter_token)
    return await _completed(ctx, name, value, retries, started, meter)


def _failed(ctx: Context, name: str, error: Exception, retries: int, started: float, meter: Meter) -> None:
    category = categorise(error, ctx.exceptions)
    step = Step(ctx.id, name, "step", done=False, retries=retries + 1, duration_ms=_ms(started))
    fields = {"step": name, "retries": retries + 1} | describe(error, category).as_dict() | meter.fields()
    ctx.jot(name="step.failed", message=message_of(error), level="warning", fields=fields, step=step, used=meter.used)


async def _completed(ctx: Context, name: str, value: Any, retries: int, started: float, meter: Meter) -> Any:
    text = ctx.values.encode(value, f"the output of step {name!r}")
    placed = await ctx.values.place(text, f"{blob_prefix(ctx.id)}/step-{ctx.fence}-{ctx.next_number()}")
    step = Step(ctx.id, name, "step", output_json=placed, retries=retries, duration_ms=_ms(started))
    step.model, step.tokens_in, step.tokens_out = meter.model, meter.tokens_in, meter.tokens_out
    step.cost_cents = meter.cost_cents
    fields = {"step": name, "duration_ms": step.duration_ms, "retries": retries} | meter.fields()
    await ctx.write(Note(ctx.id, ctx.fence, name="step.completed", fields=fields, step=step, used=meter.used))
    (await ctx.memory()).put(step)
    # What the first entry sees is what every later entry will see: the value after a round trip through JSON.
    return await ctx.values.fetch(placed)


async def _patiently(ctx: Context, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Runs the function; a short rate limit is waited out here, because the slot would be back in seconds anyway."""
    while True:
        try:
            return await _call(ctx, function, args, kwargs)
        except Exception as error:
            if categorise(error, ctx.exceptions) is not Category.RATE_LIMITED:
                raise
            wait = error.retry_after if isinstance(error, RateLimited) else SHORT_WAIT
            if isinstance(error, RateLimited) and error.budget:
                await ctx.budgets.block(error.budget, wait, message_of(error))
            if wait > SHORT_WAIT:
                raise
            fields = {"step": name, "kind": Category.RATE_LIMITED.value, "wait_seconds": wait}
            ctx.jot(name="step.rate_limited", message=message_of(error), level="warning", fields=fields)
            await asyncio.sleep(wait)


async def _call(ctx: Context, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(*args, **kwargs)
    value = await _in_thread(ctx, function, args, kwargs)
    return await value if isinstance(value, Awaitable) else value


async def _in_thread(ctx: Context, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A thread cannot be killed: an interrupted step holds its slot until the function has returned, and ends then."""
    call = partial(contextvars.copy_context().run, function, *args, **kwargs)
    running = asyncio.get_running_loop().run_in_executor(ctx.services.threads, call)
    interruption: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError as error:
            interruption = error
    if interruption is not None:
        running.exception()  # heard, and of no more use to anybody
        raise interruption
    return running.result()


def _ms(started: float) -> float:
    return round((time.monotonic() - started) * 1000, 3)
