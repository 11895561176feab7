"""What every Python process of a test run begins with: a monotonic clock that has only just started.

A machine that was switched on a minute ago has one near zero, and "never yet", when it is written as 0.0, then lies in
the future or only just in the past: something is not read, or not sent, until the machine has been up for long enough.
Here the clock begins far below zero, so that such a zero is never reached, on whatever machine the tests run. Put on
the path by `tests/conftest.py`, so that the processes that tests start have it too.
"""

import time

STARTS_AT = -1e6
_NAME = "young_monotonic"


def begin() -> None:
    """Once a process: the test process itself may have begun it as somebody's child."""
    if time.monotonic.__name__ == _NAME:
        return
    real, real_ns = time.monotonic, time.monotonic_ns
    offset = STARTS_AT - real()
    offset_ns = int(offset * 1e9)

    def young_monotonic() -> float:
        return real() + offset

    def young_monotonic_ns() -> int:
        return real_ns() + offset_ns

    time.monotonic, time.monotonic_ns = young_monotonic, young_monotonic_ns


begin()
