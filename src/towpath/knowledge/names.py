"""Names as they are stored, and what products call their things in the index."""

from __future__ import annotations

ASK = "knowledge.ask"
QUEUE = "questions"

DOCUMENT, RECORDING = "document", "recording"
