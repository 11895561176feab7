"""How fast models are known to be: a first guess, until a machine has shown how fast it is with them."""

from __future__ import annotations

from towpath.core.errors import TowpathError
from towpath.models.settings import ModelSettings
from towpath.models.speech import engine_name

# Seconds of audio that one core of a common machine hears in a second, by how a model's name begins.
_MOONSHINE = {"tiny": 25.0, "base": 14.0, "small": 8.0, "medium": 5.0}
_WHISPER = {"tiny": 12.0, "base": 7.0, "small": 2.5, "medium": 0.9, "large": 0.5, "turbo": 1.5}
_SPEAKERS = 1.3
"""Telling speakers apart takes so many times as long."""


def usual_speed(settings: ModelSettings, *, speakers: bool = False) -> float | None:
    """Of the model that these settings choose, on one core; None of a service, and of models nobody has measured."""
    try:
        match engine_name(settings):
            case "moonshine":
                from towpath.models import moonshine

                found = _found(_MOONSHINE, moonshine.choose(settings, None).name)
            case "faster_whisper":
                found = _found(_WHISPER, settings.speech_model or "base")
            case _:
                return None
    except TowpathError:  # there is no such model here: the job will say so
        return None
    return found / _SPEAKERS if found is not None and speakers else found


def known_speed(name: str) -> float | None:
    """Of one model by its name, such as `whisper/small`, on one core; None of those that nobody has measured."""
    engine, _, model = name.partition("/")
    speeds = {"moonshine": _MOONSHINE, "whisper": _WHISPER}.get(engine)
    return None if speeds is None else _found(speeds, model)


def _found(speeds: dict[str, float], model: str) -> float | None:
    return next((speed for name, speed in speeds.items() if model.rpartition("/")[2].startswith(name)), None)
