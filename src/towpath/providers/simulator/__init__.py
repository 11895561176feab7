"""Batch providers to try against: each simulator speaks one provider's wire protocol over HTTP, on a loopback port.

They are written from the providers' own SDK models, never from our adapters, so that both cannot share a misreading. What
goes wrong with real providers goes wrong with them on demand (`faults.py`), and a ledger knows what would be paid for.
"""

from towpath.providers.simulator.faults import Fault
from towpath.providers.simulator.jobs import Pace, SimulatedJob
from towpath.providers.simulator.ledger import Ledger, Paid
from towpath.providers.simulator.serving import served
from towpath.providers.simulator.simulator import Simulator

__all__ = ["Fault", "Ledger", "Pace", "Paid", "SimulatedJob", "Simulator", "served"]
