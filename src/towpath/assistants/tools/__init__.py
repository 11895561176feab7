"""The tools, a file for each subject."""

from towpath.assistants.tool import Tool
from towpath.assistants.tools import ingesting, jobs, reading, searching, transcribing

TOOLS: tuple[Tool, ...] = (*searching.TOOLS, *reading.TOOLS, *ingesting.TOOLS, *transcribing.TOOLS, *jobs.TOOLS)
"""In the order in which assistants see them."""
