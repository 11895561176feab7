"""What bells are rung for. A queue's name, or one of these, which no queue can be called."""

EVENTS = "!"
"""There are new events: for whoever follows them, in any process."""
EVERYWHERE = "*"
"""Something may have changed: look everywhere. Bells were lost, or nobody knows better."""


def of_worker(worker_id: str) -> str:
    """A job was cancelled that this worker holds."""
    return f"!worker:{worker_id}"


def for_everyone(topic: str) -> bool:
    """Whether everybody has to hear it who listens; of those who attend to a queue, one is enough."""
    return topic[:1] in (EVENTS, EVERYWHERE)
