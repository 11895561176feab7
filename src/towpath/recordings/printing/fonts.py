"""Letters for PDF files, which bring their own.

One family comes with the extra, and has Latin, Greek, Cyrillic, Arabic, Hebrew, Devanagari, Thai and Georgian. For what it
lacks, such as Chinese, Japanese and Korean, the fonts of this machine are looked at, if a text needs them at all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDERS = (
    "/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts", "/Library/Fonts",
    "/System/Library/Fonts", "~/Library/Fonts", "C:/Windows/Fonts",
)  # fmt: skip
_LIKELY = (
    "NotoSansCJK*-Regular.*", "NotoSansSC-*", "NotoSansJP-*", "NotoSansKR-*", "SourceHanSans*-Regular.*", "wqy-*.tt*",
    "DroidSansFallback*.ttf", "msyh.tt*", "msgothic.tt*", "malgun.ttf", "arialuni.ttf", "Arial Unicode.ttf",
    "DejaVuSans.ttf",    "NotoSans-Regular.ttf", "FreeSans.*", "NotoSans*-Regular.ttf", "unifont*.?t?",
)  # fmt: skip
"""By how much of the world's writing each has. Those with everything and no beauty come last."""
_ENDINGS = (".ttf", ".otf", ".ttc", ".otc")
_MOST = 300


@dataclass(frozen=True, slots=True)
class Font:
    path: Path
    letters: frozenset[int]


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """The library wants files; they go with this process."""
    return tempfile.TemporaryDirectory(prefix="towpath-fonts-")


@cache
def own(name: str) -> Path:
    """A font of the family that comes along: `figo`, or `figbo` for bold."""
    import pymupdf_fonts

    path = Path(_folder().name) / f"{name}.ttf"
    path.write_bytes(pymupdf_fonts.myfont(name))
    return path


@cache
def letters_of(path: Path) -> frozenset[int]:
    """What it can draw; nothing, if it cannot be read."""
    from fontTools.ttLib import TTFont, TTLibError

    try:
        with TTFont(path, lazy=True, fontNumber=0) as font:
            return frozenset(font.getBestCmap() or ())
    except (TTLibError, OSError, AssertionError, ValueError):
        return frozenset()


@cache
def of_this_machine() -> tuple[Path, ...]:
    """Likely ones first. Looked for once."""
    found = list(dict.fromkeys(path for pattern in _LIKELY for folder in _FOLDERS for path in _below(folder, pattern)))
    return tuple(found[:_MOST])


def _below(folder: str, pattern: str) -> Iterator[Path]:
    root = Path(folder).expanduser()
    if root.is_dir():
        yield from sorted(path for path in root.rglob(pattern) if path.suffix.lower() in _ENDINGS)


def fonts_for(wanted: set[int]) -> tuple[list[Font], set[int]]:
    """Fonts of this machine that together have as many of these letters as can be had, and those that none has."""
    chosen: list[Font] = []
    left = set(wanted)
    for path in of_this_machine():
        if not left:
            break
        letters = letters_of(path)
        if letters & left:
            chosen.append(Font(path, letters))
            left -= letters
    return chosen, left
