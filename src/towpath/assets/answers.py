"""What a decoder answered, believed no further than its shape: the file may have taken the decoder over."""

from __future__ import annotations

import json
import math
import signal
from dataclasses import dataclass
from typing import Any

from towpath import ConfigurationError, Transient, plain_text
from towpath.assets.errors import MediaUnreadable
from towpath.assets.limits import Limits

_LONGEST_TEXT = 2000
_CONVERT = "convert it to mp3, m4a or wav"


@dataclass(frozen=True, slots=True)
class MediaInfo:
    """`probe` tells the length the file declares, None if it declares none; `decode` tells the length it has.

    `damaged_packets` could not be decoded and were left out, as a player would.
    """

    duration_seconds: float | None
    codec: str
    container: str
    channels: int
    sample_rate: int
    has_video: bool
    damaged_packets: int = 0


@dataclass(frozen=True, slots=True)
class DecoderAnswer:
    info: MediaInfo
    walls: tuple[str, ...]


def understood(output: bytes, code: int | None, limits: Limits) -> DecoderAnswer:
    """Raises what the decoder has to say against the file, or what became of the decoder itself."""
    try:
        answer = json.loads(output)
    except (ValueError, RecursionError):
        raise _died(code, limits) from None
    match answer:
        case {"info": dict(info), "walls": list(walls)}:
            return DecoderAnswer(_info(info), tuple(plain_text(str(wall), limit=50) for wall in walls[:10]))
        case {"refused": str(why), "remedy": str(remedy)}:
            raise MediaUnreadable(_text(why), remedy=_text(remedy))
        case {"missing": str(what)}:
            raise ConfigurationError(f"audio cannot be decoded here ({_text(what)}); install towpath[local]")
        case {"memory": True}:
            raise MediaUnreadable(
                f"decoding needed more than {limits.memory_mb} MB of memory and was stopped",
                remedy="convert it to mp3 or wav",
            )
        case {"failed": str(why)}:
            raise MediaUnreadable(f"the file cannot be decoded: {_text(why)}", remedy=_CONVERT)
    raise MediaUnreadable("the decoder answered nothing that makes sense over this file", remedy=_CONVERT)


def _info(given: dict[str, Any]) -> MediaInfo:
    match given:
        case {
            "duration_seconds": float() | int() | None as seconds, "codec": str(codec), "container": str(container),
            "channels": int(channels), "sample_rate": int(rate), "has_video": bool(video), "damaged_packets": int(damaged),
        } if seconds is None or (math.isfinite(seconds) and seconds >= 0):  # fmt: skip
            return MediaInfo(seconds, _text(codec), _text(container), channels, rate, video, damaged)
    raise MediaUnreadable("the decoder answered nothing that makes sense over this file", remedy=_CONVERT)


def _text(given: str) -> str:
    return plain_text(given, limit=_LONGEST_TEXT)


def _died(code: int | None, limits: Limits) -> Exception:
    if code == -signal.SIGXCPU:
        return MediaUnreadable(
            f"decoding took more than {limits.cpu_seconds} s of computing and was stopped", remedy="cut the file into parts"
        )
    if code == -signal.SIGKILL:
        return Transient("the decoder was killed from outside", remedy="see whether the machine ran out of memory")
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    return MediaUnreadable(f"the decoder broke down over this file ({how})", remedy=_CONVERT)
