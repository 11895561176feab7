"""Where transcripts land: beside the audio, or in a directory of their own. Nothing is overwritten unasked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from towpath.cli.transcribing.following import Outcome
from towpath.cli.transcribing.place import Place
from towpath.core.errors import ConfigurationError

FORMATS = ("txt", "srt", "vtt", "json", "md")
"""As recordings know them; said again here, because a command that only asks a server needs none of their parts."""


@dataclass(frozen=True, slots=True)
class Landing:
    formats: tuple[str, ...]
    folder: Path | None
    overwrite: bool

    def targets(self, path: Path) -> list[Path]:
        return [(self.folder or path.parent) / f"{path.stem}.{ending}" for ending in self.formats]

    def check(self, paths: Sequence[Path]) -> None:
        """Before hours of work, not after: no two files land in one place, and none on what is there already."""
        taken: dict[Path, Path] = {}
        for path in paths:
            for target in self.targets(path):
                other = taken.setdefault(target, path)
                if other != path:
                    raise ConfigurationError(
                        f"{other} and {path} would both be written to {target}; transcribe them apart, or use --to"
                    )
                if target.exists() and not self.overwrite:
                    raise ConfigurationError(
                        f"{target} is there already; --overwrite replaces it, --to DIR writes elsewhere"
                    )

    async def land(self, place: Place, outcome: Outcome) -> None:
        """Whole or not at all: what is written is put in place when it is complete."""
        if outcome.recording_id is None:
            return
        for target, ending in zip(self.targets(outcome.path), self.formats, strict=True):
            text = await place.export(outcome.recording_id, ending)
            target.parent.mkdir(parents=True, exist_ok=True)
            unfinished = target.with_name(f".{target.name}.part")
            unfinished.write_text(text, "utf-8")
            unfinished.replace(target)
            outcome.written.append(target)


def formats_from(text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    unknown = [one for one in found if one not in FORMATS]
    if unknown or not found:
        raise ConfigurationError(f"--out takes {', '.join(FORMATS)}, or several with commas, got {text!r}")
    return found
