"""A process that a document has taken over: run in place of program.py, it tries to get out when it would read the document.

What became of each try is told in the words a document is refused with. A test makes a copy of this program with values
in the place of what stands between at-signs.
"""

import importlib.util
import json
import os
import sys
import threading
from types import ModuleType
from typing import Any

PROGRAM, ATTACKS, WANTED = "@PROGRAM@", "@ATTACKS@", "@WANTED@"


def loaded(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    return module


def _thread() -> None:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()


def take_over(*_: Any) -> None:
    from towpath.extraction.inside.refusals import Refused

    tries = attacks.TRIES | {"thread": _thread}
    found = {name: attacks.told(tries[name]) for name in WANTED.split(",")}
    known = {"tries": found, "knows": sorted(os.environ)}
    raise Refused("unsafe", json.dumps(known), "hijacked")


if __name__ == "__main__":
    sys.dont_write_bytecode = True  # what is in its folder is looked at afterwards
    attacks, program = loaded("attacks", ATTACKS), loaded("program", PROGRAM)
    program.Reader.read = take_over
    program.main()
