"""Office documents are ZIP archives: which one this is, and whether it may be unpacked at all."""

from __future__ import annotations

import io
import zipfile

from towpath.extraction.inside.refusals import Refused, damaged, encrypted

_MOST_ENTRIES = 20_000
_SMALL = 64 * 1024 * 1024
"""What unpacks to less than this is no bomb, however well it was packed."""
_HIGHEST_RATIO = 200
_OFFICE = "application/vnd.openxmlformats-officedocument"
_PARTS = {
    "word/": ("DOCX", f"{_OFFICE}.wordprocessingml.document"),
    "ppt/": ("PPTX", f"{_OFFICE}.presentationml.presentation"),
    "xl/": ("XLSX", f"{_OFFICE}.spreadsheetml.sheet"),
}
_MAIN = ("word/document.xml", "ppt/presentation.xml", "xl/workbook.xml")


def looked_into(data: bytes, most_unpacked: int) -> tuple[str, str, bool]:
    """The name and media type of the Office document, and whether it has macros. Raises `Refused`, also for what is too
    large when it is unpacked."""
    try:
        entries = zipfile.ZipFile(io.BytesIO(data)).infolist()
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
        raise damaged("ZIP archive or Office document", str(error)[:200]) from None
    if len(entries) > _MOST_ENTRIES:
        raise Refused("too_large", f"the archive has {len(entries):,} entries, and at most {_MOST_ENTRIES:,} are looked at",
                      "send a document that an Office program has saved")  # fmt: skip
    _check_names(entries)
    _check_sizes(entries, len(data), most_unpacked)
    if any(entry.flag_bits & 1 for entry in entries):
        raise encrypted("archive")
    return *_office(entries), any(entry.filename.endswith("vbaProject.bin") for entry in entries)


def _check_names(entries: list[zipfile.ZipInfo]) -> None:
    for entry in entries:
        name = entry.filename.replace("\\", "/")
        if name.startswith("/") or ".." in name.split("/"):
            raise Refused("unsafe", f"the archive has an entry that leads out of it: {name[:100]!r}",
                          "no Office program makes such a file; do not trust where it comes from")  # fmt: skip


def _check_sizes(entries: list[zipfile.ZipInfo], packed: int, most: int) -> None:
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > most or (unpacked > _SMALL and unpacked > packed * _HIGHEST_RATIO):
        raise Refused("bomb", f"the archive unpacks from {packed:,} bytes to {unpacked:,}, which is more than is taken",
                      "send a smaller document; if this one is right, raise TOWPATH_EXTRACT_MEMORY_MB")  # fmt: skip


def _office(entries: list[zipfile.ZipInfo]) -> tuple[str, str]:
    names = {entry.filename for entry in entries}
    for main in _MAIN:
        if main in names:
            return _PARTS[main.partition("/")[0] + "/"]
    if "[Content_Types].xml" in names:
        for part, kind in _PARTS.items():
            if any(name.startswith(part) for name in names):
                return kind
    raise Refused("unsupported", "this is a ZIP archive without an Office document in it, which is not read here",
                  "unpack it, and send what is in it")  # fmt: skip
