"""Doorbells: how a worker hears that a queue has work. The database is the truth, a bell only a hint."""

from towpath.transports.contract import Transport

__all__ = ["Transport"]
