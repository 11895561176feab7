"""Where transcripts land: beside the audio, or in a directory of their own. Nothing is overwritten unasked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from towpath.cli.extras import need
from towpath.cli.transcribing.following import Outcome
from towpath.cli.transcribing.place import FileOptions, Place, digest_of
from towpath.core.errors import ConfigurationError

FORMATS = ("txt", "srt", "vtt", "json", "md", "docx", "pdf")
"""As recordings know them; said again here, because a command that only asks a server needs none of their parts."""
_PRINTED = {"docx", "pdf"}


@dataclass(frozen=True, slots=True)
class OutputFiles:
    formats: tuple[str, ...]
    folder: Path | None
    overwrite: bool

    def targets(self, path: Path) -> list[Path]:
        return [(self.folder or path.parent) / f"{path.stem}.{ending}" for ending in self.formats]

    def check(self, paths: Sequence[Path]) -> list[Path]:
        """Before hours of work, not after: no two files land in one place. Answers those that would land on what is
        there already, unless that is to be replaced."""
        taken: dict[Path, Path] = {}
        for path in paths:
            for target in self.targets(path):
                other = taken.setdefault(target, path)
                if other != path:
                    raise ConfigurationError(
                        f"{other} and {path} would both be written to {target}; transcribe them apart, or use --to"
                    )
        return [] if self.overwrite else [path for path in paths if self._there(path)]

    def _there(self, path: Path) -> list[Path]:
        return [target for target in self.targets(path) if target.exists()]

    def refuse(self, path: Path) -> ConfigurationError:
        return ConfigurationError(
            f"{self._there(path)[0]} is there already, and not as the transcript of {path} as it is now; "
            "--overwrite replaces it, --to DIR writes elsewhere"
        )

    async def known(self, place: Place, standing: Sequence[Path], wishes: FileOptions) -> dict[Path, str]:
        """The recordings of files that are done. Of others, what is there already was written by somebody else."""
        found = {}
        for path in standing:
            recording_id = await place.find(await digest_of(path), wishes)
            if recording_id is None or (await place.look([recording_id]))[recording_id].status != "COMPLETED":
                raise self.refuse(path)
            found[path] = recording_id
        return found

    async def land(self, place: Place, outcome: Outcome) -> None:
        """Whole or not at all: what is written is put in place when it is complete. What is there already stays."""
        if outcome.recording_id is None:
            return
        for target, ending in zip(self.targets(outcome.path), self.formats, strict=True):
            if target.exists() and not self.overwrite:
                continue
            content = await place.export(outcome.recording_id, ending)
            target.parent.mkdir(parents=True, exist_ok=True)
            unfinished = target.with_name(f".{target.name}.part")
            unfinished.write_bytes(content)
            unfinished.replace(target)
            outcome.written.append(target)


def formats_from(text: str, server: str | None) -> tuple[str, ...]:
    """Of `--out`. What writes some of them is an extra, which a server that is asked has itself."""
    found = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    unknown = [one for one in found if one not in FORMATS]
    if unknown or not found:
        raise ConfigurationError(f"--out takes {', '.join(FORMATS)}, or several with commas, got {text!r}")
    if server is None and _PRINTED & set(found):
        need("export")
    return found
