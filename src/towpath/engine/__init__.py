"""The engine: operations, workers, and what they promise."""
