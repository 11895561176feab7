"""How often each type was right in `tests/search/corpus/entities.txt`. A test compares this table with the measurement."""

from __future__ import annotations

LEAST = 0.8
PRECISION = {
    "date": 1.0,
    "email": 1.0,
    "iban": 1.0,
    "money": 1.0,
    "organisation": 1.0,
    "person": 1.0,
    "phone": 1.0,
    "reference": 1.0,
    "url": 1.0,
}
SHOWN = tuple(sorted(type for type, precision in PRECISION.items() if precision >= LEAST))
"""Types that are found and listed. What is right less often misleads whoever browses it."""
