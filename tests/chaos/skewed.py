"""Runs a module in a process whose clock is wrong, as on a host without NTP: `-m tests.chaos.skewed SECONDS MODULE …`.

The clock is moved before the module or anything it imports is loaded, so nobody has kept the right one. The kernel's
timeouts go on as ever; whatever Python code compares with the database's time is off by SECONDS.
"""

import runpy
import sys
import time


def shift(seconds: float) -> None:
    real_time, real_time_ns, real_monotonic = time.time, time.time_ns, time.monotonic
    time.time = lambda: real_time() + seconds
    time.time_ns = lambda: real_time_ns() + int(seconds * 1e9)
    time.monotonic = lambda: real_monotonic() + seconds


if __name__ == "__main__":
    shift(float(sys.argv[1]))
    module = sys.argv[2]
    del sys.argv[1:3]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
