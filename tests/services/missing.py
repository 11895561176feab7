"""What tests need and a machine may lack. They are skipped without it, and the end of a run says what would bring it."""

import os
import re
from collections import Counter
from collections.abc import Iterable
from typing import NoReturn

import pytest

_NEEDS = re.compile(r"needs (?P<what>.+?): (?P<remedy>.+)", re.DOTALL)


def lacking(what: str, remedy: str, *, in_ci: bool = True) -> NoReturn:
    """Fine on somebody's own machine; where CI=true nothing may be left out silently."""
    if in_ci and os.environ.get("CI") == "true":
        pytest.fail(f"{what} must be there where CI=true: {remedy}", pytrace=False)
    pytest.skip(f"needs {what}: {remedy}")


def left_out(reasons: Iterable[str]) -> list[str]:
    """One line for each thing that is missing, what most tests need first; then whatever else was skipped."""
    lines = []
    for reason, count in Counter(" ".join(one.removeprefix("Skipped: ").split()) for one in reasons).most_common():
        needs = _NEEDS.fullmatch(reason)
        tests = "1 test" if count == 1 else f"{count} tests"
        lines.append(
            (needs is None, f"{tests} for want of {needs['what']}: {needs['remedy']}" if needs else f"{tests}: {reason}")
        )
    return [line for _, line in sorted(lines, key=lambda line: line[0])]
