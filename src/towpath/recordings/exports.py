"""A transcript as a file: plain text, subtitles, JSON, Markdown, Word, PDF."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC

from towpath.recordings import escaping, printing
from towpath.recordings.printing.outline import Outline, Said
from towpath.recordings.records import Line, Recording, Summary, Transcript
from towpath.recordings.subtitles import Cue, cues

_PARAGRAPH_PAUSE = 2.0
"""Seconds of silence that begin a new paragraph."""
_UNFIT = re.compile(r"[^\w .()\[\]-]+")


@dataclass(frozen=True, slots=True)
class Exported:
    """Everything an export may tell."""

    recording: Recording
    transcript: Transcript
    lines: Sequence[Line]
    summary: Summary | None = None


def as_text(what: Exported) -> str:
    return "\n\n".join(_paragraphs(what.lines)) + "\n" if what.lines else ""


def as_srt(what: Exported) -> str:
    """Who speaks is named when it is somebody else than before."""
    found = cues(what.lines, _named_when_new)
    return "\n".join(_cue(number, cue, ",", "\n".join(cue.rows)) for number, cue in enumerate(found, 1))


def as_vtt(what: Exported) -> str:
    found = cues(what.lines, lambda line, _: escaping.one_line(line.text))
    blocks = [_cue(None, cue, ".", _voice(cue)) for cue in found]
    return "\n".join(["WEBVTT\n", *blocks])


def _named_when_new(line: Line, before: Line | None) -> str:
    who = None if before is not None and before.speaker == line.speaker else line.speaker
    return _said(who, line.text, escaping.srt)


def _cue(number: int | None, cue: Cue, mark: str, payload: str) -> str:
    """SRT counts its cues, VTT does not."""
    begin = "" if number is None else f"{number}\n"
    return f"{begin}{_clock(cue.start, mark)} --> {_clock(cue.end, mark)}\n{payload}\n"


def as_json(what: Exported) -> str:
    recording, summary = what.recording, what.summary
    value = {
        "id": recording.id,
        "title": recording.title,
        "file_name": recording.file_name,
        "language": what.transcript.language,
        "duration": recording.duration,
        "engine": what.transcript.engine,
        "created_at": recording.created_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "text": " ".join(line.text for line in what.lines),
        "segments": [_segment(line) for line in what.lines],
        "summary": None if summary is None else {"text": summary.text, "method": summary.method, "model": summary.model},
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _segment(line: Line) -> dict[str, object]:
    return {"start": line.start, "end": line.end, "speaker": line.speaker, "text": line.text}


def _made_by(summary: Summary) -> str:
    return "sentences of the transcript" if summary.method == "extractive" else summary.model or "a model"


def as_markdown(what: Exported) -> str:
    parts = [f"# {escaping.markdown(escaping.one_line(what.recording.title))}"]
    if what.summary is not None:
        made = _made_by(what.summary)
        parts += ["## Summary", escaping.markdown(what.summary.text), f"*({escaping.markdown(escaping.one_line(made))})*"]
    parts += [
        "## Transcript",
        *(_timed(line) for line in what.lines),
    ]
    return "\n\n".join(parts) + "\n"


def as_docx(what: Exported) -> bytes:
    return printing.as_docx(_outline(what))


def as_pdf(what: Exported) -> bytes:
    return printing.as_pdf(_outline(what))


def _outline(what: Exported) -> Outline:
    recording, summary = what.recording, what.summary
    length = "" if recording.duration is None else _clock(recording.duration, ".")[:8]
    facts = (f"{recording.created_at.astimezone(UTC):%Y-%m-%d}", length, what.transcript.language or "", recording.file_name)
    said = [Said(_clock(line.start, ".")[:8], line.speaker or "", line.text) for line in what.lines]
    return printing.outline_of(
        recording.title, [fact for fact in facts if fact], what.transcript.language, said,
        summary=summary.text if summary else "", summary_by=_made_by(summary) if summary else "",
    )  # fmt: skip


_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FORMATS: dict[str, tuple[Callable[[Exported], str | bytes], str]] = {
    "txt": (as_text, "text/plain; charset=utf-8"),
    "srt": (as_srt, "application/x-subrip; charset=utf-8"),
    "vtt": (as_vtt, "text/vtt; charset=utf-8"),
    "json": (as_json, "application/json"),
    "md": (as_markdown, "text/markdown; charset=utf-8"),
    "docx": (as_docx, _WORD),
    "pdf": (as_pdf, "application/pdf"),
}


def rendered(what: Exported, wanted: str) -> bytes:
    """The file's bytes. Raises ConfigurationError where the library is missing that writes this format; takes its time, so
    in a server call it in a thread."""
    made = FORMATS[wanted][0](what)
    return made.encode() if isinstance(made, str) else made


def file_name(title: str, ending: str) -> str:
    """A name that every file system takes."""
    stem = _UNFIT.sub("_", title).strip(" ._")[:100] or "recording"
    return f"{stem}.{ending}"


def _timed(line: Line) -> str:
    """A line that can be found again in the recording."""
    said = _said(line.speaker, escaping.one_line(line.text), escaping.markdown)
    return f"**{_clock(line.start, '.')[:8]}** {said}"


def _paragraphs(lines: Sequence[Line]) -> list[str]:
    """Lines run together until somebody pauses or somebody else speaks."""
    found: list[list[Line]] = []
    for line in lines:
        last = found[-1][-1] if found else None
        if last is None or line.start - last.end >= _PARAGRAPH_PAUSE or line.speaker != last.speaker:
            found.append([])
        found[-1].append(line)
    return [_paragraph(part) for part in found]


def _paragraph(lines: Sequence[Line]) -> str:
    return _said(lines[0].speaker, " ".join(line.text for line in lines), escaping.lines)


def _said(speaker: str | None, text: str, escaped: Callable[[str], str]) -> str:
    who = escaping.one_line(speaker or "")
    return f"{escaped(who)}: {escaped(text)}" if who else escaped(text)


def _voice(cue: Cue) -> str:
    speaker, said = escaping.vtt(cue.speaker or ""), "\n".join(map(escaping.vtt, cue.rows))
    if not speaker:
        return said
    end = " >" if speaker.endswith("-") else ">"  # two of them and the end of the tag would be an arrow
    return f"<v {speaker}{end}{said}"


def _clock(seconds: float, mark: str) -> str:
    whole = round(seconds * 1000)
    hours, rest = divmod(whole, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{mark}{rest % 1000:03}"
