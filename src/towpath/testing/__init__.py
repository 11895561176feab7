"""What you need to test your own operations: a clock you set, a database that goes away, and a worker that runs dry.

See docs/how-to/test-your-operations.md.
"""

from towpath.testing.clock import FakeClock
from towpath.testing.draining import drain, run_operation
from towpath.testing.temporary import temporary_app

__all__ = ["FakeClock", "drain", "run_operation", "temporary_app"]
