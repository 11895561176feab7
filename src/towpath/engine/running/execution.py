"""One entry of one job, from its payload to the transition that settles it. Every outcome is matched here, once."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

from towpath.core import transitions
from towpath.core.encoding import decode
from towpath.core.errors import Category, EncodingError, LeaseLost, RateLimited, Transient
from towpath.core.outcomes import Deferred, Done, Failure, Partial, RetryLater, Suspend
from towpath.core.reactions import ComeBack, GiveUp, TryAgain, categorise, describe, react
from towpath.core.transitions import Transition
from towpath.engine.registry import Operation
from towpath.engine.running.context import Context
from towpath.engine.running.current import current_context
from towpath.engine.running.runners import Runners
from towpath.engine.running.steps import SHORT_WAIT
from towpath.engine.running.waits import progress_in
from towpath.engine.tracing import arrived
from towpath.engine.values import blob_prefix, is_reference
from towpath.store.contract import Claimed
from towpath.store.journal import Note

log = logging.getLogger("towpath.job")

# How long a job nobody here can run is set aside; a worker that knows its operation takes it back sooner.
NO_HANDLER_SECONDS = 30.0


async def execute(job: Claimed, operation: Operation | None, ctx: Context, runners: Runners) -> Transition:
    """Runs the entry and says what should become of the job."""
    if operation is None or ctx.cancelled:
        return _not_begun(job, operation, ctx)
    token, trace_token = current_context.set(ctx), arrived.set(ctx.trace)
    try:
        if operation.budget is not None:
            await ctx.budget(operation.budget)
        payload = decode(job.payload_json)
        if is_reference(payload):
            payload = await ctx.values.load(payload)
        value = await runners.run(operation, ctx, operation.read(payload))
        if value is None and ctx.uneventful:  # most jobs; the rest is for those that have something to tell
            return transitions.succeed(job.id, job.attempt, None, follow_ups=ctx.follow_ups, solo=job.solo)
        return await _outcome(job, operation, ctx, value)
    except Suspend as suspend:
        return _deferral(job, ctx, suspend)
    except asyncio.CancelledError as error:
        if ctx.interrupted is not None:
            return _interrupted(job, operation, ctx)
        if _being_cancelled():
            raise
        return await _failed(job, operation, ctx, error)  # something inside the operation was cancelled, not the job
    except LeaseLost:
        return transitions.handler_ended(job.id, job.attempt)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # sys.exit() in somebody's library is that job's failure, not the worker's end
        return await _failed(job, operation, ctx, error)
    finally:
        ctx.leave_progress()
        current_context.reset(token)
        arrived.reset(trace_token)


def _not_begun(job: Claimed, operation: Operation | None, ctx: Context) -> Transition:
    if operation is None:
        return transitions.release(job.id, job.attempt, "no_handler", NO_HANDLER_SECONDS)
    return _interrupted(job, operation, ctx)


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _outcome(job: Claimed, operation: Operation, ctx: Context, value: Any) -> Transition:
    if ctx.suspended is not None:
        return _deferral(
            job, ctx, ctx.suspended
        )  # the operation caught the exception that suspends it; it waits all the same
    if ctx.interrupted is not None and (ctx.interrupted != "shutdown" or ctx.heard):
        return _interrupted(job, operation, ctx)
    await ctx.place_follow_ups()
    match value:
        case RetryLater():
            raise value
        case Partial(result, warning):
            text = await _result(job, ctx, result)
            return transitions.finish_partial(job.id, job.attempt, text, warning, follow_ups=ctx.follow_ups)
        case Deferred(result):
            text = await _result(job, ctx, result)
            return transitions.close_with_children(job.id, job.attempt, text, operation.max_wait, follow_ups=ctx.follow_ups)
        case Done(result):
            value = result
    text = await _result(job, ctx, value)
    if ctx.spawned:  # children that ended before their parent count like those that end after it
        return transitions.close_with_children(job.id, job.attempt, text, operation.max_wait, follow_ups=ctx.follow_ups)
    return transitions.succeed(job.id, job.attempt, text, follow_ups=ctx.follow_ups, solo=job.solo)


async def _result(job: Claimed, ctx: Context, value: Any) -> str | None:
    progress = progress_in(value)
    if progress is not None:
        await ctx.write(Note(job.id, job.attempt, name="job.progress", progress=progress))
    await ctx.flush_progress()
    if value is None:
        return None
    text = ctx.values.encode(value, f"the result of {job.operation}")
    return await ctx.values.place(text, f"{blob_prefix(job.id)}/result-{job.attempt}")


def _deferral(job: Claimed, ctx: Context, suspend: Suspend) -> Transition:
    return transitions.defer(
        job.id,
        job.attempt,
        suspend.reason,
        wakes_seen=suspend.wakes_seen,
        deadline=suspend.deadline,
        max_wait=ctx.max_wait,
    )


def _interrupted(job: Claimed, operation: Operation, ctx: Context) -> Transition:
    match ctx.interrupted:
        case "timeout":
            return _react(
                job,
                operation,
                Category.TRANSIENT,
                Failure(
                    "timeout",
                    "OperationTimeout",
                    f"it ran longer than its timeout of {operation.timeout:g} s",
                    "raise timeout= of the operation, or split the work into steps or child jobs",
                ),
            )
        case "shutdown":
            return transitions.release(job.id, job.attempt)
        case _:  # cancelled, or the lease was lost: the row has moved on without us
            return transitions.handler_ended(job.id, job.attempt)


async def _failed(job: Claimed, operation: Operation, ctx: Context, error: BaseException) -> Transition:
    if ctx.suspended is not None:
        return _deferral(job, ctx, ctx.suspended)
    if ctx.lost or ctx.interrupted is not None:
        return _interrupted(job, operation, ctx)
    if isinstance(error, RetryLater):
        return transitions.retry_later(job.id, job.attempt, "retry_later", error.reason, error.delay_seconds)
    category = Category.FATAL if isinstance(error, EncodingError) else categorise(error, ctx.exceptions)
    failure = describe(error, category)
    if category is Category.RATE_LIMITED and isinstance(error, RateLimited) and error.budget:
        await ctx.budgets.block(error.budget, error.retry_after, failure.message)
    retry_after = error.retry_after if isinstance(error, RateLimited) else SHORT_WAIT
    log.info("job %s failed (%s): %s", job.id, failure.kind, failure.message, exc_info=_worth_a_trace(error))
    return _react(job, operation, category, failure, retry_after)


def _worth_a_trace(error: BaseException) -> bool:
    return not isinstance(error, Transient | RateLimited)


def _react(job: Claimed, operation: Operation, category: Category, failure: Failure, retry_after: float = 0.0) -> Transition:
    reaction = react(
        category,
        failure,
        failures=job.failures,
        retry_laters=job.retry_laters,
        policy=_policy(job, operation),
        retry_after=retry_after,
    )
    match reaction:
        case TryAgain(delay, failure):
            return transitions.retry(job.id, job.attempt, failure, delay)
        case ComeBack(delay, reason, failure):
            return transitions.retry_later(job.id, job.attempt, reason, failure.message, delay)
        case GiveUp(failure):
            return transitions.fail(job.id, job.attempt, failure)


def _policy(job: Claimed, operation: Operation) -> Any:
    """The operation's backoff with the job's own cap: a job may be enqueued with another number of attempts."""
    if operation.retry.limit == job.max_attempts:
        return operation.retry

    return replace(operation.retry, limit=job.max_attempts)
