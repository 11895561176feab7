"""Where the example keeps its documents, reports and archive: in one folder beside its database."""

from __future__ import annotations

from pathlib import Path

from towpath.core.errors import Fatal


def documents(home: Path, folder: str) -> Path:
    """A folder of documents. Payloads name folders, never paths: whoever may enqueue must not reach other files."""
    found = home / "documents" / folder
    if not found.is_dir():
        known = ", ".join(sorted(path.name for path in (home / "documents").glob("*/"))) or "none"
        raise Fatal(f"there is no folder {folder!r}; there are: {known}", remedy="requeue it with one of these")
    return found


def report(home: Path, folder: str) -> Path:
    return home / "reports" / f"{folder}.md"


def archive(home: Path, folder: str) -> Path:
    return home / "archive" / folder
