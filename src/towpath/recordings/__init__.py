"""Recordings: audio goes in, a transcript and a summary come out.

`attach(app)` brings the tables, the operations and what finished uploads are handed to. Whether a recording is waiting,
worked on, done or failed is told from its jobs (`status.py`) and stored nowhere.
"""

from towpath.recordings.records import Line, Recording, Summary, Transcript
from towpath.recordings.slice import attach

__all__ = ["Line", "Recording", "Summary", "Transcript", "attach"]
