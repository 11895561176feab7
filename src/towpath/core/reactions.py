"""The reaction matrix: which category of failure leads to what. This is the only place that decides.

| category       | reaction                                                   | uses up an attempt |
|----------------|------------------------------------------------------------|--------------------|
| transient      | back to the queue after a backoff; at the cap to the inbox | yes                |
| rate_limited   | back to the queue when the budget opens; own, large cap    | no                 |
| schema_invalid | to the inbox                                               | –                  |
| fatal          | to the inbox                                               | –                  |
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from towpath.core.encoding import plain
from towpath.core.errors import Category, ChildrenFailed, OperationError, RateLimited, SchemaInvalid, WaitTimeout
from towpath.core.outcomes import Failure
from towpath.core.retry import Retry

# RetryLater and RateLimited burn no attempt, so they have a cap of their own.
RETRY_LATER_CAP = 1000


@dataclass(frozen=True, slots=True)
class TryAgain:
    """Back to the queue after `delay` seconds; one failure more."""

    delay: float
    failure: Failure


@dataclass(frozen=True, slots=True)
class ComeBack:
    """Back to the queue after `delay` seconds; the budget is untouched."""

    delay: float
    reason: str
    failure: Failure


@dataclass(frozen=True, slots=True)
class GiveUp:
    """To the inbox."""

    failure: Failure


Reaction = TryAgain | ComeBack | GiveUp


def react(
    category: Category,
    failure: Failure,
    *,
    failures: int,
    retry_laters: int,
    policy: Retry,
    retry_after: float = 0.0,
    uniform: Callable[[float, float], float] = random.uniform,
) -> Reaction:
    """What to do after one more failure, given how many there were before it."""
    match category:
        case Category.RATE_LIMITED:
            if retry_laters + 1 >= RETRY_LATER_CAP:
                return GiveUp(failure)
            # Spread the return over a tenth of the wait: a thousand jobs must not hit the budget in one second.
            return ComeBack(retry_after + uniform(0.0, 0.1 * retry_after), "rate_limited", failure)
        case Category.TRANSIENT:
            if failures + 1 >= policy.limit:
                return GiveUp(failure)
            return TryAgain(policy.delay(failures + 1, uniform), failure)
        case Category.SCHEMA_INVALID | Category.FATAL:
            return GiveUp(failure)


_PROGRAMMER_ERRORS = (NameError, ImportError, SyntaxError, NotImplementedError, AttributeError, TypeError)
_MISSING_INPUT = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)

ExceptionMap = dict[type[BaseException], Category]


def categorise(error: BaseException, registered: ExceptionMap | None = None) -> Category:
    """Maps any exception to its category: what users registered first, then our own tree, then Python's."""
    for cls in type(error).__mro__:
        if registered and cls in registered:
            return registered[cls]
    if isinstance(error, OperationError):
        return error.category
    if type(error).__name__ == "ValidationError" and type(error).__module__.startswith("pydantic"):
        return Category.SCHEMA_INVALID
    if isinstance(error, (*_PROGRAMMER_ERRORS, *_MISSING_INPUT)):
        return Category.FATAL
    if isinstance(error, WaitTimeout):
        return Category.FATAL  # it is on record that nothing came: another attempt would only read that again
    return Category.TRANSIENT


_REMEDIES = {
    Category.TRANSIENT: "it was retried up to the cap; requeue it once the cause is gone",
    Category.RATE_LIMITED: "the other side kept refusing; raise the quota or slow the queue, then requeue",
    Category.SCHEMA_INVALID: "the input has the wrong shape; edit the payload and requeue",
    Category.FATAL: "fix the cause, then requeue",
}

_LONGEST_MESSAGE = 2000


def describe(error: BaseException, category: Category) -> Failure:
    """The record of an exception: kind, class, what happened, what to do."""
    detail: dict[str, object] = {}
    if isinstance(error, SchemaInvalid) and error.path:
        detail["path"] = plain(error.path)
    if isinstance(error, RateLimited) and error.budget:
        detail["budget"] = plain(error.budget)
    remedy = plain(str(getattr(error, "remedy", None) or _REMEDIES[category]))
    kind = "children" if isinstance(error, ChildrenFailed) else category.value  # the inbox shows the children instead
    name = error.error_class if isinstance(error, OperationError) else type(error).__name__
    return Failure(kind, name, message_of(error), remedy, detail)


def message_of(error: BaseException) -> str:
    """What an exception says, as every database can store it. Somebody's `__str__` may itself be broken."""
    try:
        text = f"{type(error).__name__}: {error}" if isinstance(error, KeyError) else str(error)  # the key alone says little
    except Exception as broken:
        text = f"{type(error).__name__}, whose message cannot be read: its __str__ raised {type(broken).__name__}"
    return plain(text or type(error).__name__, _LONGEST_MESSAGE)
