"""What this room wants to know. `towpath.Settings` has all of it; so has anything else with these names."""

from __future__ import annotations

from typing import Protocol

from towpath.extraction.contract import Limits, Options


class ExtractionSettings(Protocol):
    @property
    def extract_memory_mb(self) -> int: ...
    @property
    def extract_seconds(self) -> float: ...
    @property
    def extract_pages(self) -> int: ...
    @property
    def extract_ocr(self) -> bool: ...


def limits_of(settings: ExtractionSettings) -> Limits:
    return Limits(memory_mb=settings.extract_memory_mb, seconds=settings.extract_seconds, pages=settings.extract_pages)


def options_of(settings: ExtractionSettings) -> Options:
    return Options(ocr=settings.extract_ocr)
