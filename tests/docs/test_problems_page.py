"""The page about problems has every kind that the server answers with, under its statuses."""

import ast
from pathlib import Path
from typing import get_args

from tests.docs.problems import PAGE, page
from towpath.http.problem_kinds import KINDS, Slug
from towpath.http.problems import SLUGS, TITLES

SOURCES = sorted((Path(__file__).parents[2] / "src/towpath").rglob("*.py"))


def raised() -> set[tuple[str, int]]:
    """The kind and the status of every problem that is written out in the code."""
    calls = [node for path in SOURCES for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    made = [call for call in calls if getattr(call.func, "id", None) in ("Problem", "_plainly")]
    found = [[getattr(argument, "value", None) for argument in call.args[:2]] for call in made]
    return {(slug, status) for slug, status in found if isinstance(slug, str) and isinstance(status, int)}


def test_the_page_is_up_to_date():
    assert PAGE.read_text("utf-8") == page(), "it is not; run: python -m tests.docs.problems"


def test_every_problem_is_of_a_kind_that_is_explained_and_has_one_of_its_statuses():
    told = {(slug, status) for slug, kind in KINDS.items() for status in kind.statuses}
    found = raised()
    assert len(found) > 10
    assert found | {(slug, status) for status, slug in SLUGS.items()} <= told
    assert set(KINDS) == set(get_args(Slug))
    assert {status for _, status in told} <= set(TITLES)
