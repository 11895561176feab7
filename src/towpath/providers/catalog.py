"""Which batch providers there are. None of them is imported before it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from towpath.core.errors import ConfigurationError
from towpath.providers.contract import Provider


@dataclass(frozen=True, slots=True)
class Entry:
    module: str
    class_name: str
    extra: str
    task_types: frozenset[str]
    text: str


_SPEECH = frozenset({"transcription"})

PROVIDERS: dict[str, Entry] = {
    "AWS": Entry("towpath.providers.aws", "AwsTranscribe", "aws", _SPEECH, "Amazon Transcribe: a file in S3"),
    "AZURE": Entry("towpath.providers.azure", "AzureSpeech", "azure", _SPEECH, "Azure Speech: up to 1000 URLs"),
    "GOOGLE": Entry("towpath.providers.google", "GoogleSpeech", "google", _SPEECH, "Google Speech: up to 15 files in GCS"),
    "SARVAM": Entry("towpath.providers.sarvam", "SarvamSpeech", "sarvam", _SPEECH, "Sarvam: up to 20 files, sent to it"),
}


def make(name: str, **options: Any) -> Provider:
    """An adapter, with what its constructor takes as options."""
    entry = PROVIDERS.get(name)
    if entry is None:
        raise ConfigurationError(f"no batch provider is named {name[:80]!r}; there are {', '.join(sorted(PROVIDERS))}")
    made: Provider = getattr(import_module(entry.module), entry.class_name)(**options)
    return made
