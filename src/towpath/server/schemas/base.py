"""What all shapes share; products use the same, so it lives below them in `http/shapes.py`."""

from towpath.http.shapes import Answer, AskedMoment, Label, Moment, Name, Page, Request, Text

__all__ = ["Answer", "AskedMoment", "Label", "Moment", "Name", "Page", "Request", "Text"]
