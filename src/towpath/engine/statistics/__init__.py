"""Statistics of the last hour, day or week."""

from towpath.engine.statistics.figures import Statistics
from towpath.engine.statistics.reading import statistics
from towpath.engine.statistics.windows import WINDOWS

__all__ = ["WINDOWS", "Statistics", "statistics"]
