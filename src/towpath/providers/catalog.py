"""Every batch provider there is an adapter for. None is imported before it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import Any

from towpath.core.errors import ConfigurationError
from towpath.providers.contract import Provider


@dataclass(frozen=True, slots=True)
class Entry:
    module: str
    class_name: str
    extra: str
    """`pip install 'towpath[extra]'` brings the library it needs."""
    task_types: frozenset[str]
    text: str


_COMPLETION = frozenset({"completion"})
_SPEECH = frozenset({"transcription"})

PROVIDERS: dict[str, Entry] = {
    "ANTHROPIC": Entry("towpath.providers.anthropic", "Anthropic", "anthropic", _COMPLETION, "Anthropic's Message Batches"),
    "AWS": Entry("towpath.providers.aws", "AwsTranscribe", "aws", _SPEECH, "Amazon Transcribe: a file in S3"),
    "AZURE": Entry("towpath.providers.azure", "AzureSpeech", "azure", _SPEECH, "Azure Speech: up to 1000 URLs"),
    "GEMINI": Entry("towpath.providers.gemini", "Gemini", "google", _COMPLETION, "the Gemini API's batches"),
    "GOOGLE": Entry("towpath.providers.google", "GoogleSpeech", "google", _SPEECH, "Google Speech: up to 15 files in GCS"),
    "OPENAI": Entry("towpath.providers.openai", "OpenAI", "openai", _COMPLETION, "OpenAI's Batch API"),
    "OPENAI_COMPATIBLE": Entry(
        "towpath.providers.openai_compatible", "OpenAICompatible", "openai", _COMPLETION, "any endpoint that speaks it, too"
    ),
    "SARVAM": Entry("towpath.providers.sarvam", "SarvamSpeech", "sarvam", _SPEECH, "Sarvam: up to 20 files, sent to it"),
    "VERTEX": Entry("towpath.providers.vertex", "Vertex", "google", _COMPLETION, "Vertex AI's batch prediction with Gemini"),
}

SETTINGS: Mapping[str, Mapping[str, str]] = {
    "AZURE": {"endpoint": "azure_speech_endpoint", "key": "azure_speech_key", "webhook_secret": "azure_webhook_secret"},
    "GEMINI": {"webhook_secret": "gemini_webhook_secret"},
    "GOOGLE": {"location": "google_speech_location"},
    "OPENAI_COMPATIBLE": {
        "base_url": "openai_compatible_url",
        "api_key": "openai_compatible_key",
        "webhook_secret": "openai_compatible_webhook_secret",
    },
    "SARVAM": {"callback_token": "sarvam_callback_token"},
}
"""What no library reads from the environment, or none may: options of adapters, and the installation's settings for them."""


def make_here(name: str, settings: object) -> Provider:
    """The adapter of that name as the installation's settings have it; what they leave out its library looks for."""
    said = {option: getattr(settings, setting) for option, setting in SETTINGS.get(name, {}).items()}
    return make(name, **{option: value for option, value in said.items() if value})


def make(name: str, **options: Any) -> Provider:
    """The adapter of that name. `options` are its constructor's."""
    entry = PROVIDERS.get(name)
    if entry is None:
        raise ConfigurationError(f"no batch provider is named {name[:200]!r}; there are {', '.join(sorted(PROVIDERS))}")
    adapter = getattr(import_module(entry.module), entry.class_name)
    try:
        signature(adapter).bind(**options)
    except TypeError as error:
        raise ConfigurationError(f"{name} is given the wrong options: {error}") from None
    made: Provider = adapter(**options)
    return made
