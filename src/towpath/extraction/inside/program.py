"""The program that opens strangers' documents, run as a process of its own: program.py JSON

It knows no path, holds no secrets, and locks itself in before it touches a document (`walls/lock.py`). Requests come over
standard input, each with its document; answers go to standard output; it ends when standard input or the lifeline ends.
A request is a length, that many bytes of JSON, and the document. An answer is a length, JSON, and its pages, each after its
number and its length (`towpath.extraction.answers`).
"""

from __future__ import annotations

import codecs
import contextlib
import email.parser  # noqa: F401  (loaded by `email` when the first message comes)
import encodings.aliases
import json
import os
import resource
import struct
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

_HERE = Path(__file__).resolve().parents[2]


def load_codecs() -> None:
    """Python loads the letters of an encoding when a text has them, which is when nothing can be opened any more."""
    for name in set(encodings.aliases.aliases.values()):
        with contextlib.suppress(ImportError, LookupError):  # some are of another system
            codecs.lookup(name)


def alone() -> None:
    """`import towpath` would bring settings, databases and all products; these are the names without what is in them."""
    for name, place in (("towpath", _HERE), ("towpath.extraction", _HERE / "extraction")):
        module = ModuleType(name)
        module.__path__ = [str(place)]
        sys.modules[name] = module


class Reader:
    """Loaded for one of two tasks: text as it is written, or pictures of it."""

    def __init__(self, task: str) -> None:
        from towpath.extraction.inside import asked, fallback, kinds, library, mail, refusals, seeing

        self._asked, self._kinds, self._mail, self._fallback, self._refused = asked, kinds, mail, fallback, refusals.Refused
        self._library = library.Library() if task == "text" else None
        self._eyes = seeing.Eyes() if task == "pictures" else None

    def start(self) -> None:
        """Everything has been loaded; this does it all once, so that nothing is loaded or started late."""
        if self._library is not None:
            self._library.start()

    def read(self, data: bytes, given: dict[str, Any]) -> Any:
        asked = self._asked.Asked(**(given | {"pages": tuple(given["pages"])}))
        kind = self._kinds.kind_of(data, asked.name, asked.most_unpacked)
        if self._eyes is not None:
            return self._eyes.read(data, kind, asked)
        if kind.name == "picture":
            return self._asked.Read(kind.name, kind.media_type, "page", [], "none", "", pictures=[1])
        assert self._library is not None
        return (
            self._mail.read_mail(self._library, data, asked) if kind is self._kinds.MAIL else self._text(data, kind, asked)
        )

    def _text(self, data: bytes, kind: Any, asked: Any) -> Any:
        assert self._library is not None
        try:
            return self._library.read(data, kind, asked)
        except self._refused as refused:
            if kind is not self._kinds.PDF or refused.why != "damaged":
                raise
            return self._fallback.read_pdf(data, asked)


def serve(reader: Reader, first: dict[str, Any], answers: int, inside: Any) -> None:
    """Until nobody asks any more, or until it has computed so much that the next document could not have its whole time."""
    requests = sys.stdin.buffer
    while head := requests.read(4):
        asked = json.loads(requests.read(struct.unpack(">I", head)[0]))
        answer = answered(reader, asked, requests.read(asked.pop("size")), inside)
        answer["walls"] = first["stand"]
        answer["last"] = time.process_time() > first["cpu_seconds"] / 2 or largest() > first["memory_mb"] / 2
        send(answers, answer)
        if answer["last"] or answer.get("memory"):
            break


def largest() -> float:
    """MB that this process has had at most: what was freed may lie in pieces."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


def answered(reader: Reader, asked: dict[str, Any], data: bytes, inside: Any) -> dict[str, Any]:
    from towpath.extraction.inside import refusals

    try:
        read = reader.read(data, asked)
        if sum(len(text) for _, text in read.pages) > asked["most_characters"]:
            raise refusals.Refused("too_large", f"the document has more than {asked['most_characters']:,} characters",
                                   "cut it into parts")  # fmt: skip
        return {name: getattr(read, name) for name in read.__slots__}
    except refusals.Refused as refused:
        return {"refused": str(refused), "why": refused.why, "remedy": refused.remedy}
    except Exception as error:
        # Whatever a library makes of a stranger's file is about that file.
        return {"memory": True} if inside.out_of_memory(error) else {"failed": f"{type(error).__name__}: {error}"[:2000]}


def send(target: int, answer: dict[str, Any]) -> None:
    pages = [(number, text.encode("utf-8", "replace")) for number, text in answer.pop("pages", [])]
    body = b"".join(struct.pack(">II", number, len(text)) + text for number, text in pages)
    head = json.dumps(answer | {"size": len(body)}).encode()
    rest = memoryview(struct.pack(">I", len(head)) + head + body)
    while rest:
        rest = rest[os.write(target, rest) :]


def own_output() -> int:
    """Libraries print; what they print goes nowhere."""
    answers = os.dup(1)
    os.dup2(2, 1)
    return answers


def main() -> None:
    given = json.loads(sys.argv[1])
    alone()
    from towpath.walls import inside, lock

    answers = own_output()
    inside.limit(given["memory_mb"], given["cpu_seconds"])
    try:
        load_codecs()
        reader = Reader(given["task"])

        def start_threads() -> None:
            inside.watch_the_parent(given["lifeline"])
            reader.start()

        stand = lock.put_on(given["walls"], start_threads, loops=True)
    except ImportError as error:
        send(answers, {"memory": True} if inside.out_of_memory(error) else {"missing": str(error)})
    except MemoryError:
        send(answers, {"memory": True})
    else:
        send(answers, {"ready": True, "walls": stand})
        serve(reader, given | {"stand": stand}, answers, inside)
    os._exit(0)  # nothing of a document's has a last word


if __name__ == "__main__":
    main()
