"""What this installation's own speech engine can do of a transcription's options, said before anything is queued."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from towpath import SchemaInvalid
from towpath.models.settings import ModelSettings
from towpath.models.speech import check_language


def check_hearing(settings: ModelSettings, options: Mapping[str, Any]) -> str | None:
    """Answers the language as engines take it; raises SchemaInvalid for what LOCAL has no way to do."""
    if options.get("word_timestamps"):
        said = "LOCAL tells when phrases begin and end, not words"
        raise SchemaInvalid(said, path="word_timestamps", remedy="leave it out, or name a provider that does")
    diarization = options.get("diarization")
    if diarization is not True and diarization:
        said = f"LOCAL finds out by itself how many speakers there are, and cannot be told {diarization!r}"
        raise SchemaInvalid(said, path="diarization", remedy="say true")
    try:
        return check_language(settings, options.get("locale"))
    except SchemaInvalid as error:
        error.path = "locale"
        raise
