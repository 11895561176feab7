"""Where documents are read: in a data directory on this machine, or by a server. Both answer in the shapes of the API, so
whoever follows a run need not know which of them it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

UPLOAD, URL, BUCKET = "upload", "url", "bucket"
"""As runs name their kinds; said again here, because a command that only asks a server needs none of their parts."""
ENDED = frozenset({"COMPLETED", "FAILED", "CANCELLED"})
RUN_ENDED = ENDED | {"PARTIAL"}
TOGETHER = 100
"""So many are looked up at once."""
Shape = dict[str, Any]


class Place(Protocol):
    def source_of(self, path: Path) -> str:
        """What a file is known by from now on: the next one of the same source is the same document."""
        ...

    async def known(self, asked: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> list[Shape | None]:
        """The items that stand for these files and addresses already."""
        ...

    async def upload(self, path: Path) -> str:
        """Hands a file over; answers its id. An expected refusal is a TowpathError that says why."""
        ...

    async def begin(
        self, kind: str, items: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], title: str | None
    ) -> str:
        """Makes a run and answers its id."""
        ...

    async def retry(self, run_id: str, item_ids: Sequence[str]) -> set[str]:
        """Begins failed items again, each at the step that failed; answers those that cannot be."""
        ...

    async def run(self, run_id: str) -> Shape: ...

    async def items(self, run_id: str, after: int, limit: int) -> list[Shape]:
        """Those of a run after a number, in its order."""
        ...
