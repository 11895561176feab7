"""Reports as CSV. What a spreadsheet would run as a formula is text there: object keys and messages come from outside."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, str):
        flat = value.replace("\0", "")
        return f"'{flat}" if flat.startswith(_FORMULA) else flat
    return "" if value is None else value
