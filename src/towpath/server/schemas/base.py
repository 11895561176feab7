"""What all shapes share; products use the same, so it lives below them in `http/shapes.py`."""

from towpath.http.shapes import Answer, AskedMoment, Label, Moment, Name, Page, Request, Text, any_case

__all__ = ["Answer", "AskedMoment", "Label", "Moment", "Name", "Page", "Request", "Text", "any_case"]
