"""Google's library, imported before anybody else does: its source has an escape sequence that Python warns of, once, when it
compiles the file, and warnings are errors here."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="invalid escape sequence")
    from google.genai import errors, types

__all__ = ["errors", "types"]
