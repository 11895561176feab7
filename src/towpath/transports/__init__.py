"""Doorbells: how a worker hears that a queue has work. The database is the truth, a bell only a hint."""

from towpath.transports.contract import Attendance, Found, Look, Transport

__all__ = ["Attendance", "Found", "Look", "Transport"]
