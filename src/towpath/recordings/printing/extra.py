"""The libraries that print are an extra; whoever has not got it is told which."""

from __future__ import annotations

from importlib.util import find_spec

from towpath import ConfigurationError

_NEEDED = {"docx": ("docx",), "pdf": ("fpdf", "pymupdf_fonts", "uharfbuzz")}
REMEDY = "install what it takes: pip install 'towpath[export]'"


def is_installed(wanted: str) -> bool:
    """Whether exports of this format can be made here; others need nothing."""
    return all(find_spec(module) is not None for module in _NEEDED.get(wanted, ()))


def need(wanted: str) -> None:
    if not is_installed(wanted):
        raise ConfigurationError(f"nothing here writes {wanted} files; {REMEDY}")
