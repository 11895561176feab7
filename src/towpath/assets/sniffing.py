"""What a file is, told from its first bytes. Names and claimed types are not asked."""

from __future__ import annotations

from dataclasses import dataclass

HEAD = 4096
"""So many bytes from the beginning are enough."""


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    media_type: str


MEDIA_TYPES = {
    "mp3": "audio/mpeg", "m4a": "audio/mp4", "mp4": "video/mp4", "mov": "video/quicktime", "3gp": "video/3gpp",
    "ogg": "audio/ogg", "opus": "audio/ogg", "webm": "video/webm", "mkv": "video/x-matroska", "flac": "audio/flac",
    "wav": "audio/wav", "amr": "audio/amr", "aac": "audio/aac",
}  # fmt: skip
MEDIA = frozenset(MEDIA_TYPES)
"""Every kind of audio and video that can be decoded here."""
OTHER = Kind("other", "application/octet-stream")

_BITRATES = {  # kbit/s by (MPEG-1?, layer)
    (True, 1): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (True, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (True, 3): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (False, 1): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (False, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (False, 3): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_KNOWN_OTHERS = (
    (b"PK\x03\x04", "a ZIP archive or an office document"), (b"%PDF", "a PDF document"), (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"), (b"GIF8", "an image"), (b"\x1f\x8b", "a gzip archive"), (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"), (b"\x7fELF", "a program"), (b"MZ", "a program"),
)  # fmt: skip


def sniff(head: bytes) -> Kind:
    """The kind of a file by its first `HEAD` bytes, or all of them if it has fewer; `OTHER` if it is none we know."""
    name = _container(head) or _stream(head)
    return Kind(name, MEDIA_TYPES[name]) if name else OTHER


def described(head: bytes) -> str:
    """In words, for somebody whose file is refused."""
    known = sniff(head)
    if known is not OTHER:
        return f"{known.media_type.partition('/')[0]} of the format {known.name}"
    for begin, words in _KNOWN_OTHERS:
        if head.startswith(begin):
            return words
    return "text" if _is_text(head) else "in a format that is not known here"


def _is_text(head: bytes) -> bool:
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:
            return False
        text = head[: error.start].decode("utf-8")  # the last letter was cut
    return bool(text) and all(char.isprintable() or char in "\r\n\t\f" for char in text)


def _container(head: bytes) -> str | None:
    if head[4:8] == b"ftyp":
        return _iso(head[8:12])
    if head[:4] == b"OggS":
        return "opus" if b"OpusHead" in head[:512] else "ogg"
    if head[:4] == b"\x1aE\xdf\xa3":
        return "webm" if b"webm" in head[:128] else "mkv" if b"matroska" in head[:128] else None
    if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
        return "wav"
    if head[:4] == b"fLaC":
        return "flac"
    return "amr" if head.startswith((b"#!AMR\n", b"#!AMR-WB\n")) else None


def _iso(brand: bytes) -> str:
    if brand in (b"M4A ", b"M4B ", b"M4P "):
        return "m4a"
    return "mov" if brand == b"qt  " else "3gp" if brand.startswith((b"3gp", b"3g2")) else "mp4"


def _stream(head: bytes) -> str | None:
    if head[:3] == b"ID3" and len(head) > 10 and head[3] < 0xFF and max(head[6:10]) < 0x80:
        return "mp3"
    if len(head) > 7 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0:
        size = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
        return "aac" if size > 7 and _continues(head, size, 0xF6) else None
    frame = _mpeg_frame(head)
    return "mp3" if frame and _continues(head, frame, 0xFE) else None


def _mpeg_frame(head: bytes) -> int | None:
    """How long the first MPEG audio frame is; two bytes alone would find one in every sixteenth random file."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    version, layer = head[1] >> 3 & 3, 4 - (head[1] >> 1 & 3)
    bitrate, rate, padding = head[2] >> 4, head[2] >> 2 & 3, head[2] >> 1 & 1
    if version == 1 or layer == 4 or bitrate in (0, 15) or rate == 3:
        return None
    bits = _BITRATES[version == 3, layer][bitrate - 1] * 1000
    if layer == 1:
        return (12 * bits // _RATES[version][rate] + padding) * 4
    samples = 72 if layer == 3 and version != 3 else 144
    return samples * bits // _RATES[version][rate] + padding


def _continues(head: bytes, size: int, mask: int) -> bool:
    """Another frame follows, as far as can be seen."""
    following = head[size : size + 2]
    return len(following) < 2 or (following[0] == 0xFF and following[1] & mask == head[1] & mask)
