"""The matrix: one happy path and four categories, each with exactly one reaction."""

import pydantic
import pytest

from towpath.core.encoding import encode
from towpath.core.errors import (
    Category,
    ChildrenFailed,
    Fatal,
    HistoryMismatch,
    RateLimited,
    SchemaInvalid,
    StepNameReused,
    Transient,
    WaitRefused,
    WaitTimeout,
)
from towpath.core.outcomes import Done, Failure, outcome_from_envelope
from towpath.core.reactions import RETRY_LATER_CAP, ComeBack, GiveUp, TryAgain, categorise, describe, react
from towpath.core.retry import Retry

FAILURE = Failure("kind", "Class", "message")
POLICY = Retry(limit=3, base=2.0, factor=2.0, max_delay=100.0)


def highest(_low: float, high: float) -> float:
    return high


def reaction_to(category: Category, *, failures: int = 0, retry_laters: int = 0, retry_after: float = 0.0):
    return react(
        category,
        FAILURE,
        failures=failures,
        retry_laters=retry_laters,
        policy=POLICY,
        retry_after=retry_after,
        uniform=highest,
    )


def test_what_worked_needs_no_reaction():
    assert outcome_from_envelope({"status": "ok", "result": 5}) == Done(5)


def test_transient_tries_again_with_a_growing_backoff_and_gives_up_at_the_cap():
    assert reaction_to(Category.TRANSIENT, failures=0) == TryAgain(2.0, FAILURE)
    assert reaction_to(Category.TRANSIENT, failures=1) == TryAgain(4.0, FAILURE)
    assert reaction_to(Category.TRANSIENT, failures=2) == GiveUp(FAILURE)


def test_rate_limited_comes_back_when_the_budget_opens_however_many_failures_there_were():
    assert reaction_to(Category.RATE_LIMITED, failures=99, retry_after=30) == ComeBack(33.0, "rate_limited", FAILURE)


def test_rate_limited_never_comes_back_before_it_was_told_to():
    early = react(
        Category.RATE_LIMITED,
        FAILURE,
        failures=0,
        retry_laters=0,
        policy=POLICY,
        retry_after=30,
        uniform=lambda low, _high: low,
    )
    assert early == ComeBack(30.0, "rate_limited", FAILURE)


def test_rate_limited_gives_up_at_its_own_large_cap():
    assert isinstance(reaction_to(Category.RATE_LIMITED, retry_laters=RETRY_LATER_CAP - 2), ComeBack)
    assert reaction_to(Category.RATE_LIMITED, retry_laters=RETRY_LATER_CAP - 1) == GiveUp(FAILURE)


@pytest.mark.parametrize("category", [Category.SCHEMA_INVALID, Category.FATAL])
def test_what_retrying_cannot_help_goes_straight_to_the_inbox(category):
    assert reaction_to(category, failures=0) == GiveUp(FAILURE)


class Picky(pydantic.BaseModel):
    n: int


def validation_error() -> Exception:
    try:
        Picky.model_validate({"n": "x"})
    except pydantic.ValidationError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    ("error", "category"),
    [
        (Transient("x"), Category.TRANSIENT),
        (RateLimited("x"), Category.RATE_LIMITED),
        (SchemaInvalid("x"), Category.SCHEMA_INVALID),
        (Fatal("x"), Category.FATAL),
        (HistoryMismatch("x"), Category.FATAL),
        (StepNameReused("x"), Category.FATAL),
        (WaitRefused("x"), Category.FATAL),
        (ChildrenFailed("x"), Category.FATAL),
        (WaitTimeout("x"), Category.FATAL),
        (validation_error(), Category.SCHEMA_INVALID),
        (ConnectionError("x"), Category.TRANSIENT),
        (TimeoutError("x"), Category.TRANSIENT),
        (RuntimeError("x"), Category.TRANSIENT),
        (FileNotFoundError("x"), Category.FATAL),
        (PermissionError("x"), Category.FATAL),
        (TypeError("x"), Category.FATAL),
        (ImportError("x"), Category.FATAL),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_every_exception_has_a_category(error, category):
    assert categorise(error) is category


class VendorError(Exception):
    pass


class VendorBusy(VendorError):
    pass


def test_a_registered_exception_has_the_category_it_was_given_and_so_have_its_subclasses():
    assert categorise(VendorBusy("x"), {VendorError: Category.FATAL}) is Category.FATAL


def test_the_most_specific_registration_wins_and_beats_our_own_tree():
    registered = {VendorError: Category.FATAL, VendorBusy: Category.RATE_LIMITED, Fatal: Category.TRANSIENT}
    assert categorise(VendorBusy("x"), registered) is Category.RATE_LIMITED
    assert categorise(HistoryMismatch("x"), registered) is Category.TRANSIENT


def test_a_failure_says_kind_class_what_happened_and_what_to_do():
    failure = describe(SchemaInvalid("must be a number", path="pages.3"), Category.SCHEMA_INVALID)
    assert failure.kind == "schema_invalid"
    assert failure.error_class == "SchemaInvalid"
    assert failure.message == "pages.3: must be a number"
    assert "edit the payload" in failure.remedy
    assert failure.detail == {"path": "pages.3"}


def test_the_remedy_of_an_exception_beats_the_general_one():
    assert describe(Fatal("x", remedy="call Anna"), Category.FATAL).remedy == "call Anna"


def test_an_exception_without_words_is_described_by_its_name():
    assert describe(RuntimeError(), Category.TRANSIENT).message == "RuntimeError"


def test_the_budget_of_a_rate_limit_is_on_record():
    assert describe(RateLimited("x", budget="openai:gpt"), Category.RATE_LIMITED).detail == {"budget": "openai:gpt"}


def test_an_endless_message_is_cut():
    assert len(describe(Fatal("x" * 100_000), Category.FATAL).message) <= 2000


def test_an_error_can_be_stored_whatever_characters_its_words_contain():
    awkward = "page \x00 has \ud800"
    failure = describe(Fatal(awkward, remedy=awkward), Category.FATAL)
    encode(failure.as_dict())
    assert "\x00" not in failure.group  # a text column of PostgreSQL takes no NUL
    failure.group.encode("utf-8")


@pytest.mark.parametrize("retry_after", [-1, float("nan")])
def test_a_rate_limit_cannot_end_before_it_began(retry_after):
    with pytest.raises(ValueError, match="zero or more"):
        RateLimited(retry_after=retry_after)
