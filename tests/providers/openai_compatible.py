"""A service that speaks as OpenAI does, for the contract suite; see `openai.py` for what it cannot have."""

from __future__ import annotations

from tests.providers.openai import order, simulator
from towpath.providers import Provider
from towpath.providers.openai_compatible import OpenAICompatible
from towpath.providers.simulator import Simulator
from towpath.providers.simulator.openai import KEY

__all__ = ["adapter", "order", "simulator"]


def adapter(simulator: Simulator) -> Provider:
    return OpenAICompatible(api_key=KEY, base_url=f"{simulator.url}/v1")
