"""What became of each thing that was to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from towpath.cli.ingesting.place import ENDED, Shape

DONE, FAILED, CANCELLED, KNOWN = "done", "failed", "cancelled", "known"
_READ = "CONTENT_EXTRACTED"


@dataclass(slots=True)
class Outcome:
    """`known`: it was read before, and nothing was done. `step` is where a failure happened."""

    name: str
    status: str = "waiting"
    document_id: str | None = None
    run_id: str | None = None
    item_id: str | None = None
    step: str | None = None
    error: str | None = None
    as_before: bool = False

    @property
    def ended(self) -> bool:
        return self.status in (DONE, FAILED, CANCELLED, KNOWN)

    @property
    def is_good(self) -> bool:
        return self.status in (DONE, KNOWN)

    def fail(self, why: str) -> None:
        self.status, self.error = FAILED, why

    def look(self, item: Shape) -> None:
        """Takes over how its item stands."""
        self.run_id, self.item_id, self.document_id = item["run_id"], item["id"], item["document_id"]
        if item["status"] not in ENDED:
            self.status = item["waiting_for"] or item["step"]
            return
        self.as_before = _READ in item["reused"]
        self.status = {"COMPLETED": DONE, "FAILED": FAILED, "CANCELLED": CANCELLED}[item["status"]]
        if error := item["error"]:
            self.step = error["step"]
            self.error = f"{error['message']}; {error['remedy']}" if error["remedy"] else error["message"]
        elif self.status == CANCELLED:
            self.error = "it was cancelled"
        elif self.status == FAILED:
            self.error = "it failed, and its job is gone"

    def as_dict(self) -> dict[str, Any]:
        return {
            "input": self.name, "status": self.status, "document_id": self.document_id, "run_id": self.run_id,
            "item_id": self.item_id, "step": self.step, "error": self.error,
        }  # fmt: skip
