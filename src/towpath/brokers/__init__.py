"""Message brokers, spoken to as they are. What a message means is said by whoever sends it."""

from towpath.brokers.contract import Message, Outgoing, QueueCounts, Unsent

__all__ = ["Message", "Outgoing", "QueueCounts", "Unsent"]
