"""A transcript as a document for people: what stands in it, and how Word and PDF have it."""

from towpath.recordings.printing.outline import Outline, outline_of
from towpath.recordings.printing.pdf import as_pdf
from towpath.recordings.printing.word import as_docx

__all__ = ["Outline", "as_docx", "as_pdf", "outline_of"]
