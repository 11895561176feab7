"""Extraction: any document's bytes become text with pages, in a process that can do no harm.

`extract` reads one document. A worker that reads many has `Extractors`, which keep processes warm. What a document is, is
told by its content. This room knows no database and no server; what becomes of the text is for products to say.
"""

from towpath.extraction.contract import Extracted, Limits, Options, Page
from towpath.extraction.errors import DocumentUnreadable, Why
from towpath.extraction.extractors import Extractors, extract
from towpath.extraction.settings import limits_of, options_of

__all__ = [
    "DocumentUnreadable",
    "Extracted",
    "Extractors",
    "Limits",
    "Options",
    "Page",
    "Why",
    "extract",
    "limits_of",
    "options_of",
]
