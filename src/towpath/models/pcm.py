"""Decoded audio on disk: 16 kHz mono in 16 bits, bare or in a WAV file, read piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from towpath.core.errors import SchemaInvalid

if TYPE_CHECKING:
    from towpath.models.speech import Samples

SAMPLE_RATE = 16_000
BYTES_PER_SAMPLE = 2
_WANTED = (1, 1, SAMPLE_RATE, 16)  # PCM, mono, rate, bits


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The file, standing at its first sample."""
    with path.open("rb") as source:
        if source.read(4) == b"RIFF":
            _skip_header(source, path)
        else:
            source.seek(0)
        yield source


def read(path: Path, start: float, end: float) -> Samples:
    """The samples between two moments, without reading the rest."""
    with opened(path) as source:
        first, last = (round(moment * SAMPLE_RATE) for moment in (start, end))
        source.seek(first * BYTES_PER_SAMPLE, 1)
        return samples(source.read((last - first) * BYTES_PER_SAMPLE))


def samples(data: bytes) -> Samples:
    """Bytes as engines take them. Half a sample at the end is no sample."""
    import numpy as np

    whole = len(data) - len(data) % BYTES_PER_SAMPLE
    return np.frombuffer(data[:whole], dtype="<i2").astype(np.float32) / np.float32(32768)


def to_bytes(given: Samples) -> bytes:
    """Samples as 16-bit PCM; what is too loud is clipped, what is no number is silence."""
    import numpy as np

    return (np.clip(np.nan_to_num(given), -1.0, 1.0) * 32767).astype("<i2").tobytes()


def _skip_header(source: BinaryIO, path: Path) -> None:
    """To the first sample. The length a header tells is not believed: streamed files carry none."""
    source.seek(12)
    while len(head := source.read(8)) == 8:
        size = int.from_bytes(head[4:], "little")
        if head[:4] == b"data":
            return
        body = source.read(size + size % 2)
        if head[:4] == b"fmt ":
            _check_format(body, path)
    raise SchemaInvalid(f"{path.name} is a WAV file without audio", remedy="decode the recording again")


def _check_format(body: bytes, path: Path) -> None:
    def number(at: int, size: int) -> int:
        return int.from_bytes(body[at : at + size], "little")

    found = (number(0, 2), number(2, 2), number(4, 4), number(14, 2))
    if found != _WANTED:
        kind, channels, rate, bits = found
        raise SchemaInvalid(
            f"{path.name} is WAV of kind {kind} with {channels} channels at {rate} Hz in {bits} bits; "
            f"engines take PCM, mono, {SAMPLE_RATE} Hz, 16 bits",
            remedy="decode the recording first",
        )
