"""Writes the API's OpenAPI document, from which the UI's types are made: python -m towpath.server.openapi [FILE]"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from towpath.engine.app import App
from towpath.server.assembly import create_app

DOCUMENT = Path("web/openapi.json")


def document() -> dict[str, Any]:
    """The same for every app: what an app's own operations take is data, not a part of the API."""
    return create_app(App("sqlite:///unused.db")).openapi()


def text() -> str:
    return json.dumps(document(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main(target: Path = DOCUMENT) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text(), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENT)
