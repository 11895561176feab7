"""A package without the web UI looks whole until somebody opens it. So nothing is packed before the UI has been built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PAGE = "src/towpath/server/ui/index.html"
_MISSING = (
    f"the web UI has not been built: there is no {_PAGE}. Build it with `make web`, which brings the Node it needs, "
    "then build the package again"
)


class NeedsUI(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """An editable install is for working here, where `make web` may come later."""
        if version != "editable" and not (Path(self.root) / _PAGE).is_file():
            raise SystemExit(_MISSING)
