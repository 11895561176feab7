"""A transcript in the shapes of OpenAI's transcriptions. Nothing here does I/O."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi.responses import JSONResponse, PlainTextResponse, Response

from towpath.recordings.exports import Exported, as_srt, as_vtt
from towpath.recordings.records import Line, Recording, Transcript

FORMATS = ("json", "text", "srt", "verbose_json", "vtt")


def answer(wanted: str, recording: Recording, transcript: Transcript, lines: Sequence[Line], language: str) -> Response:
    text = " ".join(line.text for line in lines)
    match wanted:
        case "text":
            return PlainTextResponse(f"{text}\n")
        case "srt":
            return PlainTextResponse(as_srt(Exported(recording, transcript, lines)))
        case "vtt":
            return PlainTextResponse(as_vtt(Exported(recording, transcript, lines)))
        case "verbose_json":
            return JSONResponse(_verbose(text, lines, recording.duration or 0.0, language))
    return JSONResponse({"text": text, "usage": _usage(recording.duration)})


def _usage(seconds: float | None) -> dict[str, Any]:
    return {"type": "duration", "seconds": round(seconds or 0.0)}


def _verbose(text: str, lines: Sequence[Line], seconds: float, language: str) -> dict[str, Any]:
    return {
        "task": "transcribe", "language": language, "duration": seconds, "text": text,
        "segments": [_segment(number, line) for number, line in enumerate(lines)], "usage": _usage(seconds),
    }  # fmt: skip


def _segment(number: int, line: Line) -> dict[str, Any]:
    """What no engine here measures is zero: the API has no way to leave it out."""
    return {
        "id": number, "seek": 0, "start": line.start, "end": line.end, "text": line.text, "tokens": [], "temperature": 0.0,
        "avg_logprob": 0.0, "compression_ratio": 0.0, "no_speech_prob": 0.0,
    }  # fmt: skip
