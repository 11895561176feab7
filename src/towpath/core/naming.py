"""Names as people write them, and what somebody may have meant by a name that nothing has."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_LISTED = 20


def meant(name: str, known: Iterable[str]) -> str:
    """`did you mean 'mails'?`, or nothing if no name is near."""
    spelt = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), spelt, 1)
    return f"did you mean {spelt[near[0]]!r}?" if near else ""


def listed(known: Iterable[str]) -> str:
    """`known are mails, reports`; of very many only the first."""
    names = sorted(known)
    if not names:
        return "there is none yet"
    return f"known are {', '.join(names[:_MOST_LISTED])}{' and more' if len(names) > _MOST_LISTED else ''}"


def folded(name: str) -> str:
    """`In-Progress`, `in_progress` and `IN PROGRESS` are one name."""
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


def spelt(name: str, names: Iterable[str]) -> str:
    """The one of `names` that is meant, however it is written; what is none of them stays as it is."""
    return next((one for one in names if folded(one) == folded(name)), name)
