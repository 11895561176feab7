"""Lets this process and all that it starts have monotonic clocks that have only just begun."""

import importlib.util
import os
from pathlib import Path

EVERY_PROCESS = Path(__file__).parent / "every_process"


def begin() -> None:
    """Python imports `sitecustomize` from its path when it starts; this process has started already."""
    before = os.environ.get("PYTHONPATH")
    if str(EVERY_PROCESS) not in (before or "").split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(EVERY_PROCESS), before]))
    spec = importlib.util.spec_from_file_location("towpath_every_process", EVERY_PROCESS / "sitecustomize.py")
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
