"""Anthropic for the contract suite.

What it cannot have:
- backwards: before it has ended a batch is `in_progress`; there is nothing to move back to.
"""

from __future__ import annotations

from tests.providers.cases import MemoryFiles, completion
from towpath.providers import Order, Provider
from towpath.providers.anthropic import Anthropic
from towpath.providers.simulator import Simulator
from towpath.providers.simulator.anthropic import KEY, AnthropicSimulator


def simulator() -> Simulator:
    return AnthropicSimulator()


def adapter(simulator: Simulator) -> Provider:
    return Anthropic(api_key=KEY, base_url=simulator.url)


def order(files: MemoryFiles, key: str, count: int) -> Order:
    return completion(
        files,
        key,
        count,
        "claude-opus-5",
        lambda number: {"messages": [{"role": "user", "content": f"question {number}"}], "max_tokens": 64},
    )
