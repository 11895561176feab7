"""What the errors page says about categories is what the engine does."""

import builtins
import re

import pydantic
import pytest

import towpath
from tests.docs.pages import DOCS
from tests.docs.tables import bare, table_with
from towpath import Retry
from towpath.core.errors import Category, OperationError, RateLimited
from towpath.core.reactions import ComeBack, GiveUp, TryAgain, categorise, describe, react

PAGE = DOCS / "errors.md"
MATRIX = {Category(bare(row["category"])): row for row in table_with(PAGE, "raise", "what happens")}
EXCEPTIONS = table_with(PAGE, "exception", "category")

WORDS = {TryAgain: "tried again after a backoff", ComeBack: "comes back when the budget opens", GiveUp: "to the inbox"}
ATTEMPT = {TryAgain: "yes", ComeBack: "no", GiveUp: "no retry"}


def _reaction(category, failures=0):
    failure = describe(OperationError("broken"), category)
    return react(category, failure, failures=failures, retry_laters=0, policy=Retry(limit=3), retry_after=1.0)


def test_the_matrix_has_a_row_for_each_category():
    assert set(MATRIX) == set(Category)


@pytest.mark.parametrize("category", Category)
def test_the_matrix_says_what_happens(category):
    row, reaction = MATRIX[category], type(_reaction(category))
    assert row["what happens"].startswith(WORDS[reaction])
    assert row["uses up an attempt"] == ATTEMPT[reaction]
    assert getattr(towpath, bare(row["raise"])).category is category


@pytest.mark.parametrize("category", Category)
def test_the_matrix_says_what_happens_at_the_cap(category):
    at_the_cap = isinstance(_reaction(category, failures=2), GiveUp)
    at_once = isinstance(_reaction(category), GiveUp)
    assert ("at the cap, to the inbox" in MATRIX[category]["what happens"]) == (at_the_cap and not at_once)


@pytest.mark.parametrize("row", EXCEPTIONS[1:-1], ids=lambda row: row["exception"])
def test_an_exception_of_pythons_has_the_category_the_page_says(row):
    for name in re.findall(r"`(\w+)`", row["exception"]):
        assert categorise(getattr(builtins, name)("broken")) == bare(row["category"]), name


def test_everything_else_is_transient():
    listed = {name for row in EXCEPTIONS for name in re.findall(r"`(\w+)`", row["exception"])}
    builtin = [error for error in vars(builtins).values() if isinstance(error, type) and issubclass(error, Exception)]
    surprises = {
        error.__name__
        for error in builtin
        if not issubclass(error, Warning | UnicodeError | ExceptionGroup)
        and categorise(error("broken")) is not Category.TRANSIENT
        and not any(base.__name__ in listed for base in error.__mro__)
    }
    assert surprises == set()
    assert EXCEPTIONS[-1] == {"exception": "everything else", "category": "`transient`"}


def test_pydantics_errors_are_schema_invalid():
    with pytest.raises(pydantic.ValidationError) as caught:
        pydantic.TypeAdapter(int).validate_python("x")
    assert "ValidationError" in EXCEPTIONS[0]["exception"]
    assert categorise(caught.value) == bare(EXCEPTIONS[0]["category"])


def test_the_backoff_on_the_page_is_the_default_one():
    shown = re.search(r"`(Retry\([^`]*\))`: after", PAGE.read_text("utf-8"))[1]
    assert eval(shown, {"Retry": Retry}) == Retry()


def test_the_errors_a_caller_meets_exist():
    names = [name for row in table_with(PAGE, "error", "when") for name in re.findall(r"`(\w+)`", row["error"])]
    assert len(names) > 8
    assert all(issubclass(getattr(towpath, name), towpath.TowpathError) for name in names)


def test_a_rate_limit_keeps_its_budget_on_record():
    assert describe(RateLimited(budget="b"), Category.RATE_LIMITED).as_dict()["budget"] == "b"
