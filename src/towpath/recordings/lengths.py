"""How long a file says it is, from a few of its bytes: for estimates, until it has been decoded. Nobody relies on it.

Only fixed fields are read, none of them is followed further than the file goes, and what makes no sense is no answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

_SOME = 65_536
_MOST_BOXES = 64
_LONGEST = 1000 * 3600.0
# MPEG audio, layer 3: kbit/s and samples a second, by version (3 is MPEG-1, 2 and 0 are MPEG-2 and 2.5).
_KBITS = {
    3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_AMR_FRAMES = (13, 14, 16, 18, 20, 21, 27, 32)
"""Bytes of one, by mode; each is a fiftieth of a second."""


def stated(path: Path) -> float | None:
    """Seconds; None if the file does not say, or says nonsense."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            found = _stated(file, file.read(_SOME), size)
    except (OSError, ArithmeticError, IndexError, ValueError):
        return None
    return found if found is not None and 0 < found <= _LONGEST else None


def _stated(file: BinaryIO, head: bytes, size: int) -> float | None:
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return _wav(head, size)
    if head[:4] == b"fLaC":
        return _flac(head)
    if head[:4] == b"OggS":
        return _ogg(head, _tail(file, size))
    if head[4:8] == b"ftyp":
        return _iso(file, size)
    if head[:6] == b"#!AMR\n":
        return (size - 6) / _AMR_FRAMES[(head[6] >> 3) & 7] / 50
    return _mp3(head, size)


def _tail(file: BinaryIO, size: int) -> bytes:
    file.seek(max(0, size - _SOME))
    return file.read(_SOME)


def _little(data: bytes, at: int, length: int = 4) -> int:
    return int.from_bytes(data[at : at + length], "little")


def _big(data: bytes, at: int, length: int = 4) -> int:
    return int.from_bytes(data[at : at + length], "big")


def _wav(head: bytes, size: int) -> float | None:
    form, data = head.find(b"fmt "), head.find(b"data")
    if form < 0 or data < 0:
        return None
    return (size - data - 8) / _little(head, form + 16)


def _flac(head: bytes) -> float | None:
    rate = _big(head, 18, 3) >> 4
    samples = _big(head, 21, 5) & 0xF_FFFF_FFFF
    return samples / rate if samples else None


def _ogg(head: bytes, tail: bytes) -> float | None:
    """The last page says how many samples there are up to its end. Opus counts in 48,000 a second, whatever it holds."""
    last, vorbis = tail.rfind(b"OggS"), head.find(b"\x01vorbis")
    if last < 0 or (vorbis < 0 and b"OpusHead" not in head[:512]):
        return None
    return _little(tail, last + 6, 8) / (_little(head, vorbis + 12) if vorbis >= 0 else 48_000)


def _iso(file: BinaryIO, size: int) -> float | None:
    """MP4 and its kin: the box `mvhd` within `moov`, which is at the beginning or at the end."""
    at = 0
    for _ in range(_MOST_BOXES):
        file.seek(at)
        head = file.read(16)
        if len(head) < 8 or at >= size:
            return None
        if head[4:8] == b"moov":
            return _mvhd(file.read(_SOME))
        length = _big(head, 0)
        at += max(8, _big(head, 8, 8) if length == 1 else length or size)
    return None


def _mvhd(inside: bytes) -> float | None:
    at = inside.find(b"mvhd")
    if at < 0:  # it comes first, and eight bytes of its head were read already
        at = -4
    wide = inside[at + 4] == 1
    scale, length = (at + 24, 8) if wide else (at + 16, 4)
    return _big(inside, scale + 4, length) / _big(inside, scale)


def _mp3(head: bytes, size: int) -> float | None:
    """By the first frame: how many there are if it says so, else as if all had its bit rate."""
    start = 10 + sum((head[6 + place] & 0x7F) << (21 - 7 * place) for place in range(4)) if head[:3] == b"ID3" else 0
    if start + 200 > len(head) or head[start] != 0xFF or head[start + 1] & 0xE6 != 0xE2:
        return None
    version, bits = head[start + 1] >> 3 & 3, head[start + 2]
    rate = _RATES[version][bits >> 2 & 3] if version in _RATES else 0
    for name in (b"Xing", b"Info"):
        at = head.find(name, start, start + 64)
        if at >= 0 and head[at + 7] & 1:
            return _big(head, at + 8) * (1152 if version == 3 else 576) / rate
    return (size - start) / (_KBITS[3 if version == 3 else 2][bits >> 4] * 125)
