"""Batch providers: one contract, one file for each of them, and simulators that speak their wire protocols.

An adapter translates, it never decides: retries, categories, timeouts, merging and ending a task are the engine's.
"""

from towpath.providers.contract import (
    Answer,
    Challenged,
    Counts,
    Files,
    Found,
    Grade,
    Input,
    Limits,
    Order,
    Phase,
    Prepared,
    Probing,
    Provider,
    Result,
    Vanished,
)

__all__ = [
    "Answer",
    "Challenged",
    "Counts",
    "Files",
    "Found",
    "Grade",
    "Input",
    "Limits",
    "Order",
    "Phase",
    "Prepared",
    "Probing",
    "Provider",
    "Result",
    "Vanished",
]
