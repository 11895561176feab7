"""Entities found by rules, without a model: what has a form of its own, and names that something beside them gives away.

`mentions` finds them. Of a type that was not right often enough when it was measured nothing is shown (`precision.py`).
"""

from towpath.search.recognizing.finding import mentions
from towpath.search.recognizing.precision import PRECISION, SHOWN

__all__ = ["PRECISION", "SHOWN", "mentions"]
