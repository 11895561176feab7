"""OpenAI for the contract suite, and the same adapter as anybody else's endpoint would get it.

What it cannot have:
- expired_url: files are asked for by their ids, with the key; there are no links.
"""

from __future__ import annotations

from tests.providers.cases import MemoryFiles, completion
from towpath.providers import Order, Provider
from towpath.providers.openai import OpenAI
from towpath.providers.simulator import Simulator
from towpath.providers.simulator.openai import KEY, WEBHOOK_SECRET, OpenAISimulator


def simulator() -> Simulator:
    return OpenAISimulator()


def adapter(simulator: Simulator) -> Provider:
    return OpenAI(api_key=KEY, base_url=f"{simulator.url}/v1", webhook_secret=WEBHOOK_SECRET)


def order(files: MemoryFiles, key: str, count: int) -> Order:
    return completion(
        files,
        key,
        count,
        "gpt-6-astra",
        lambda number: {"messages": [{"role": "user", "content": f"question {number}"}], "max_tokens": 64},
    )
