"""The Gemini API for the contract suite.

What it cannot have:
- expired_url: files are asked for by their names, with the key; there are no links.
"""

from __future__ import annotations

from tests.providers import google_library as _first  # noqa: F401 (before what it says)
from tests.providers.cases import MemoryFiles, completion
from towpath.providers import Order, Provider
from towpath.providers.gemini import Gemini
from towpath.providers.simulator import Simulator
from towpath.providers.simulator.gemini import KEY, WEBHOOK_SECRET, GeminiSimulator


def simulator() -> Simulator:
    return GeminiSimulator()


def adapter(simulator: Simulator) -> Provider:
    return Gemini(api_key=KEY, base_url=simulator.url, webhook_secret=WEBHOOK_SECRET)


def order(files: MemoryFiles, key: str, count: int) -> Order:
    return completion(
        files,
        key,
        count,
        "gemini-3.8-flash",
        lambda number: {"messages": [{"role": "user", "content": f"question {number}"}], "max_tokens": 64},
    )
