"""A stand-in for each batch provider: its simulator, and an adapter with made-up credentials that is pointed at it.

What an adapter is not told it would look for in the environment, so each is told everything. The modules are imported when
they are needed: a provider whose library is not installed is left out, and the others are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from towpath.providers import Provider
from towpath.providers.simulator import Simulator

_WIRES = "towpath.providers.simulator"
PROJECT, LOCATION = "demonstration", "europe-west4"


class StandIn(NamedTuple):
    simulator: Callable[[int], Simulator]
    """Made from a seed."""
    adapter: Callable[[str, float], Provider]
    """For the simulator at a URL, and for how many seconds a submission may be on its way."""


def _simulator(module: str, name: str) -> Callable[[int], Simulator]:
    def made(seed: int) -> Simulator:
        simulator: Simulator = getattr(import_module(f"{_WIRES}.{module}"), name)(seed=seed)
        return simulator

    return made


def _patient(adapter: Any, patience: float) -> Provider:
    """A real provider is given a minute or more before an answer counts as lost. Nobody wants to watch that."""
    adapter.submit_seconds = patience
    patient: Provider = adapter
    return patient


def _credentials(token: str) -> Any:
    from google.oauth2.credentials import Credentials

    return Credentials(token=token)  # type: ignore[no-untyped-call]  # google.auth's own lack


def _anthropic(url: str, patience: float) -> Provider:
    from towpath.providers.anthropic import Anthropic
    from towpath.providers.simulator.anthropic import KEY

    return _patient(Anthropic(api_key=KEY, base_url=url), patience)


def _aws(url: str, patience: float) -> Provider:
    from towpath.providers.aws import AwsTranscribe
    from towpath.providers.simulator.aws_wire import ACCESS_KEY, SECRET_KEY

    made = AwsTranscribe(region="us-east-1", endpoint_url=url, access_key_id=ACCESS_KEY, secret_access_key=SECRET_KEY)
    return _patient(made, patience)


def _azure(url: str, patience: float) -> Provider:
    from towpath.providers.azure import AzureSpeech
    from towpath.providers.simulator.azure import KEY

    return _patient(AzureSpeech(endpoint=url, key=KEY), patience)


def _gemini(url: str, patience: float) -> Provider:
    from towpath.providers.gemini import Gemini
    from towpath.providers.simulator.gemini import KEY

    return _patient(Gemini(api_key=KEY, base_url=url), patience)


def _google(url: str, patience: float) -> Provider:
    from towpath.providers.google import GoogleSpeech
    from towpath.providers.simulator.google import TOKEN

    credentials = _credentials(TOKEN)
    return _patient(GoogleSpeech(project=PROJECT, endpoint=url, storage_endpoint=url, credentials=credentials), patience)


def _openai(url: str, patience: float) -> Provider:
    from towpath.providers.openai import OpenAI
    from towpath.providers.simulator.openai import KEY

    return _patient(OpenAI(api_key=KEY, base_url=f"{url}/v1"), patience)


def _openai_compatible(url: str, patience: float) -> Provider:
    from towpath.providers.openai_compatible import OpenAICompatible
    from towpath.providers.simulator.openai import KEY

    return _patient(OpenAICompatible(api_key=KEY, base_url=f"{url}/v1"), patience)


def _sarvam(url: str, patience: float) -> Provider:
    from towpath.providers.sarvam import SarvamSpeech
    from towpath.providers.simulator.sarvam import KEY

    return _patient(SarvamSpeech(endpoint=url, key=KEY), patience)


def _vertex(url: str, patience: float) -> Provider:
    from towpath.providers.simulator.vertex import TOKEN
    from towpath.providers.vertex import Vertex

    return _patient(Vertex(project=PROJECT, location=LOCATION, credentials=_credentials(TOKEN), base_url=url), patience)


STAND_INS: dict[str, StandIn] = {
    "ANTHROPIC": StandIn(_simulator("anthropic", "AnthropicSimulator"), _anthropic),
    "AWS": StandIn(_simulator("aws", "AwsSimulator"), _aws),
    "AZURE": StandIn(_simulator("azure", "AzureSimulator"), _azure),
    "GEMINI": StandIn(_simulator("gemini", "GeminiSimulator"), _gemini),
    "GOOGLE": StandIn(_simulator("google", "GoogleSimulator"), _google),
    "OPENAI": StandIn(_simulator("openai", "OpenAISimulator"), _openai),
    "OPENAI_COMPATIBLE": StandIn(_simulator("openai", "OpenAISimulator"), _openai_compatible),
    "SARVAM": StandIn(_simulator("sarvam", "SarvamSimulator"), _sarvam),
    "VERTEX": StandIn(_simulator("vertex", "VertexSimulator"), _vertex),
}
