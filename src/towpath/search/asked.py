"""What questions about one source are jobs on. Whoever removes the source finds them by it, and their answers go with it."""

from __future__ import annotations


def questions_about(kind: str) -> str:
    """The kind of their subject; its id is the source's own."""
    return f"{kind}.question"
