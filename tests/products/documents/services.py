"""A service that does steps, on loopback: each document says in its text what the service does to it."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

from tests.models.wire_server import Answer, Asked, WireServer

OUTPUT = {"words": 3}
METER = {"model": "translator-2", "tokens_in": 12, "tokens_out": 7, "cost_cents": 0.25}


def envelope(output: Any = OUTPUT, **more: Any) -> Answer:
    return Answer({"status": "ok", "meter": METER, "output": output} | more)


def refusal(kind: str, **more: Any) -> Answer:
    return Answer({"status": "error", "error_kind": kind, "message": f"the service says {kind}"} | more)


class Service:
    """Answers by the first word of the text: what is laid down for it, one after the other, and then the last one again."""

    def __init__(self, wire: WireServer) -> None:
        self.wire, self._answers = wire, dict[str, list[Answer]]()
        self._lock = threading.Lock()
        self.calls: Counter[str] = Counter()
        wire.always = self._answer

    @property
    def url(self) -> str:
        return f"{self.wire.root}/step"

    def lay(self, word: str, *answers: Answer) -> None:
        self._answers[word] = list(answers)

    def _answer(self, asked: Asked) -> Answer:
        word = asked.json()["pages"][0]["text"].split()[0]
        with self._lock:
            self.calls[word] += 1
            answers = self._answers.get(word)
            if not answers:
                return envelope()
            return answers.pop(0) if len(answers) > 1 else answers[0]
