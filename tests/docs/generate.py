"""Writes the generated parts of the documentation anew: python -m tests.docs.generate"""

import re
from pathlib import Path

from tests.docs.pages import DOCS
from towpath.core.lifecycle import markdown_table, mermaid

CONCEPTS = DOCS / "concepts.md"
_BEGIN, _END = "<!-- lifecycle: begin (python -m tests.docs.generate) -->", "<!-- lifecycle: end -->"


def lifecycle() -> str:
    return f"```mermaid\n{mermaid()}```\n\n{markdown_table()}"


def with_lifecycle(page: str) -> str:
    """The page with the part between the marks replaced by what the table says now."""
    whole = re.compile(f"{re.escape(_BEGIN)}\n.*?{re.escape(_END)}", re.DOTALL)
    fresh, count = whole.subn(lambda _: f"{_BEGIN}\n{lifecycle()}{_END}", page)
    if count != 1:
        raise ValueError(f"the page must have one pair of marks: {_BEGIN} … {_END}")
    return fresh


def main(page: Path = CONCEPTS) -> None:
    page.write_text(with_lifecycle(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
