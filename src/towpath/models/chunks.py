"""Text in parts that fit into one question: whole sentences, in order, nothing left out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from towpath.core.errors import ConfigurationError

LEAST = 200
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\n+")  # noqa: RUF001  # full-width marks end sentences too


def sentences(text: str) -> list[str]:
    """Every sentence, without the white space around it; white space within is one blank."""
    found: list[str] = []
    begin = 0
    for mark in _END.finditer(text):
        found.append(text[begin : mark.end()])
        begin = mark.end()
    found.append(text[begin:])
    return [clean for piece in found if (clean := " ".join(piece.split()))]


def chunks(text: str, most: int) -> list[str]:
    """Each at most `most` characters. Only a sentence that alone is longer is cut, between words if it can be."""
    return packed(sentences(text), most)


def packed(pieces: Iterable[str], most: int, joint: str = " ") -> list[str]:
    """Pieces joined, in order, as long as they fit together."""
    if most < LEAST:
        raise ConfigurationError(f"TOWPATH_CHAT_CHUNK_CHARACTERS must be {LEAST} or more, got {most}")
    full: list[str] = []
    for piece in (part for whole in pieces for part in cut(whole, most)):
        if full and len(full[-1]) + len(joint) + len(piece) <= most:
            full[-1] += joint + piece
        else:
            full.append(piece)
    return full


def cut(piece: str, most: int) -> list[str]:
    """In parts of at most `most` characters, between words; a word that is longer is broken."""
    parts: list[str] = []
    while len(piece) > most:
        at = piece.rfind(" ", 1, most + 1)
        at = at if at > 0 else most
        parts.append(piece[:at].rstrip())
        piece = piece[at:].lstrip()
    return [*parts, piece] if piece else parts
