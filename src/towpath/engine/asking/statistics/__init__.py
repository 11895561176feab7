"""Statistics of the last hour, day or week."""

from towpath.engine.asking.statistics.figures import Statistics
from towpath.engine.asking.statistics.reading import statistics
from towpath.engine.asking.statistics.windows import WINDOWS

__all__ = ["WINDOWS", "Statistics", "statistics"]
