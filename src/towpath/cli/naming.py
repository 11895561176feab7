"""A job by part of its id: the UI shows the last eight characters, logs the first ones."""

from __future__ import annotations

from towpath.core.errors import ConfigurationError, JobNotFound
from towpath.engine.app import App

_WHOLE = 36
_LEAST = 4
_PAGE, _PAGES = 1000, 10
_NAMED = 10
_LETTERS = frozenset("0123456789abcdef-")


async def job_named(app: App, text: str) -> str:
    """The id of the one job whose id begins or ends like this, among the newest. A whole id is answered as it is,
    and so is what cannot be a part of one: whoever is asked for it says what an id looks like."""
    part = text.strip().lower()
    if not _LEAST <= len(part) < _WHOLE or not _LETTERS.issuperset(part):
        return text
    found = await _matching(app, part)
    if not found:
        raise JobNotFound(f"of the newest {_PAGE * _PAGES:,} jobs none has an id that begins or ends with {text!r}")
    if len(found) > 1:
        some = ", ".join(found[:_NAMED]) + (" and more" if len(found) > _NAMED else "")
        raise ConfigurationError(f"{text!r} begins or ends the ids of several jobs: {some}; give more of the one you mean")
    return found[0]


async def _matching(app: App, part: str) -> list[str]:
    """Bounded: an old job is named by its whole id."""
    found: list[str] = []
    before: str | None = None
    for _ in range(_PAGES):
        page = await app.list(limit=_PAGE, before=before)
        found += [job.id for job in page if job.id.startswith(part) or job.id.endswith(part)]
        if len(page) < _PAGE:
            break
        before = page[-1].id
    return found
