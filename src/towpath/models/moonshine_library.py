"""Moonshine's library as it is called here: with one thread for each model that is loaded, and without copying samples.

By itself it works on one window with all cores, waiting in loops: on two cores that takes twice the computing for the
same time, and three times if others compute too. Windows heard side by side use the cores better.
"""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError
from towpath.models.moonshine_files import SIZES, Model
from towpath.models.speech import SAMPLE_RATE

if TYPE_CHECKING:
    from towpath.models.speech import Samples

_QUIET = {"return_audio_data": "false"}
_ONE_THREAD = "MOONSHINE_ORT_SINGLE_THREAD"


def load(model: Model, options: dict[str, str]) -> Any:
    """A transcriber of the library."""
    try:
        from moonshine_voice import MoonshineError, Transcriber  # type: ignore[import-untyped]  # ships no types
        from moonshine_voice.moonshine_api import ModelArch  # type: ignore[import-untyped]  # ships no types
    except (ImportError, OSError) as error:
        raise ConfigurationError(
            f"Moonshine cannot be loaded ({error}); install it again with pip install 'towpath[local]'"
        ) from error
    os.putenv(_ONE_THREAD, "1")  # the library reads it when it loads a model
    try:
        return Transcriber(str(model.path), ModelArch(SIZES.index(model.size)), options=_QUIET | options)
    except MoonshineError as error:
        raise ConfigurationError(
            f"the speech model in {model.path} cannot be loaded ({error}); "
            f"pull it again with towpath models pull --force moonshine/{model.name}"
        ) from error


def lines_of(transcriber: Any, samples: Samples, length: int) -> list[Any]:
    """What it makes of the samples, filled up with silence to `length`.

    The library's own method takes a list and goes through it sample by sample, which is a tenth of all the work; this is
    what it does after that.
    """
    import numpy as np
    from moonshine_voice.errors import check_error  # type: ignore[import-untyped]  # ships no types
    from moonshine_voice.moonshine_api import TranscriptC

    held = np.zeros(max(length, len(samples)), dtype=np.float32)
    held[: len(samples)] = samples
    found = ctypes.POINTER(TranscriptC)()
    given = held.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    check_error(
        transcriber._lib.moonshine_transcribe_without_streaming(
            transcriber._handle, given, len(held), SAMPLE_RATE, 0, ctypes.byref(found)
        )
    )
    lines: list[Any] = transcriber._parse_transcript(found).lines
    return lines
