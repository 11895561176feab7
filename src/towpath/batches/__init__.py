"""Batches: many requests at once, at a batch provider or on this installation's own workers.

`attach(app)` brings the tables, the operations and the routes. Whether a batch is waiting, worked on, done or failed is told
from its jobs (`status.py`) and stored nowhere.
"""

from towpath.batches.asking import Answer, ask
from towpath.batches.records import Batch, Dataset
from towpath.batches.slice import attach

__all__ = ["Answer", "Batch", "Dataset", "ask", "attach"]
